"""Messages held, handed back and kept, on moto's SQS."""

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.backends import get_backend

from lambdas.adapters.sqs_lease import SqsMessageLease
from lambdas.adapters.sqs_malformed import REASON, SqsMalformedMessages
from lambdas.domain.errors import PassingError, PermissionDenied
from tests.integration.conftest import ACCOUNT, REGION


def a_queue(name: str = "notices") -> tuple[Any, str]:
    sqs = boto3.client("sqs")
    return sqs, sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "180"})["QueueUrl"]


def received(sqs: Any, url: str, number: int) -> dict[str, str]:
    """So many messages, sent and received: receipts by id."""
    for i in range(number):
        sqs.send_message(QueueUrl=url, MessageBody=str(i))
    receipts: dict[str, str] = {}
    while len(receipts) < number:
        for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]:
            receipts[message["MessageId"]] = message["ReceiptHandle"]
    return receipts


def seconds_until_visible(name: str = "notices") -> Mapping[str, float]:
    """By message id: the real effect, from moto's own books."""
    queue = get_backend("sqs")[ACCOUNT][REGION].queues[name]
    now = time.time()
    return {message.id: message.visible_at / 1000 - now for message in queue._messages}


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("number", [1, 10, 11, 23])
def test_all_messages_of_a_batch_are_held_however_many(number: int) -> None:
    sqs, url = a_queue()
    receipts = received(sqs, url, number)
    assert all(seconds > 170 for seconds in seconds_until_visible().values())
    SqsMessageLease(sqs, url, receipts).hold(receipts, timedelta(seconds=15))
    assert len(seconds_until_visible()) == number
    assert all(10 < seconds <= 15.1 for seconds in seconds_until_visible().values())


@pytest.mark.usefixtures("aws")
def test_a_message_handed_back_is_seen_again_and_its_neighbour_is_not() -> None:
    sqs, url = a_queue()
    receipts = received(sqs, url, 2)
    mine, other = receipts
    SqsMessageLease(sqs, url, receipts).hold([mine], timedelta())
    (again,) = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert again["MessageId"] == mine
    assert seconds_until_visible()[other] > 170


@pytest.mark.usefixtures("aws")
def test_a_part_of_a_second_is_rounded_up() -> None:
    sqs, url = a_queue()
    receipts = received(sqs, url, 1)
    SqsMessageLease(sqs, url, receipts).hold(receipts, timedelta(milliseconds=4001))
    (seconds,) = seconds_until_visible().values()
    assert 4 < seconds <= 5.1


@pytest.mark.usefixtures("aws")
def test_what_cannot_be_held_is_named_and_the_others_are_held() -> None:
    sqs, url = a_queue()
    receipts = received(sqs, url, 12)
    gone, *rest = receipts
    sqs.delete_message(QueueUrl=url, ReceiptHandle=receipts[gone])
    with pytest.raises(PassingError, match="2 of 13 messages could not be held") as caught:
        SqsMessageLease(sqs, url, receipts).hold([*receipts, "stranger"], timedelta(seconds=15))
    assert gone in str(caught.value)
    assert "stranger (not of this batch)" in str(caught.value)
    assert {i for i, seconds in seconds_until_visible().items() if seconds <= 15.1} == set(rest)


@pytest.mark.usefixtures("aws")
def test_holding_nothing_asks_nobody() -> None:
    SqsMessageLease(boto3.client("sqs"), "https://nowhere.invalid/q", {}).hold([], timedelta(seconds=1))


@pytest.mark.usefixtures("aws")
def test_a_queue_that_was_renamed_is_a_wrong_name_not_a_passing_fault() -> None:
    sqs, url = a_queue()
    with pytest.raises(PermissionDenied, match="does not exist"):
        SqsMessageLease(sqs, url + "-old", {"m": "r"}).hold(["m"], timedelta(seconds=1))


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ('{"detail": 7}', '{"detail": 7}'),
        ("naïve ☂ 🜚\ttab\n", "naïve ☂ 🜚\ttab\n"),
        ("", "(the body was empty)"),
        ("bell\x07 half \ud800 nothing \x00", "bell\ufffd half \ufffd nothing \ufffd"),
    ],
)
def test_a_malformed_body_can_be_read_again_beside_its_reason(body: str, kept: str) -> None:
    sqs, url = a_queue("rejected")
    SqsMalformedMessages(sqs, url).keep(body, 'detail.instance-id: "x\x00" is no instance id')
    (message,) = sqs.receive_message(QueueUrl=url, MessageAttributeNames=[REASON])["Messages"]
    assert message["Body"] == kept
    assert message["MessageAttributes"][REASON]["StringValue"] == 'detail.instance-id: "x\ufffd" is no instance id'


@pytest.mark.usefixtures("aws")
def test_a_reason_of_any_length_is_carried() -> None:
    sqs, url = a_queue("rejected")
    for reason in ("", "x" * 300_000):
        SqsMalformedMessages(sqs, url).keep("body", reason)
    messages = sqs.receive_message(QueueUrl=url, MessageAttributeNames=[REASON], MaxNumberOfMessages=10)["Messages"]
    assert sorted(m["MessageAttributes"][REASON]["StringValue"] for m in messages) == ["unknown", "x" * 1000]
