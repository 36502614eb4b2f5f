"""Every message of a batch lands on exactly one heap."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.handlers.batch import NoBatch, Received, partial_response, read_batch
from lambdas.handlers.triage import triage
from tests.unit.events.bodies import INSTANCE, an_event, recorded_cases

BODIES = st.text(max_size=30) | st.sampled_from([case.body for case in recorded_cases()])


def a_message(body: str, message_id: str = "m") -> Received:
    return Received(message_id, f"r-{message_id}", body)


@given(st.lists(BODIES, max_size=12))
def test_every_message_lands_on_exactly_one_heap(bodies: list[str]) -> None:
    heaps = triage([a_message(body, str(i)) for i, body in enumerate(bodies)])
    landed = [message_id for request in heaps.requests for message_id in request.message_ids]
    landed += [it.message.message_id for it in heaps.unreadable] + [it.message.message_id for it in heaps.unneeded]
    assert sorted(landed, key=int) == [str(i) for i in range(len(bodies))]


def test_each_heap_says_why() -> None:
    heaps = triage(
        [
            a_message(json.dumps(an_event())),
            a_message("?"),
            a_message(json.dumps(an_event("EBS Volume Notification"))),
            a_message(json.dumps(an_event("EC2 Instance Rebalance Recommendation"))),
        ]
    )
    assert [request.notice.instance_id for request in heaps.requests] == [INSTANCE]
    assert [it.reason.partition(" (")[0] for it in heaps.unreadable] == ["body: no JSON"]
    assert [(it.kind, it.reason) for it in heaps.unneeded] == [
        ("ignored", '"aws.ec2" "EBS Volume Notification"'),
        ("rebalance", "not acted on by this version"),
    ]


def test_a_record_is_read_with_how_often_it_was_received() -> None:
    record = {"messageId": "m", "receiptHandle": "r", "body": "b", "attributes": {"ApproximateReceiveCount": "7"}}
    strange = record | {"attributes": {"ApproximateReceiveCount": "many"}}
    bare = {name: record[name] for name in ("messageId", "receiptHandle", "body")}
    assert read_batch({"Records": [record, strange, bare]}) == [
        Received("m", "r", "b", 7),
        Received("m", "r", "b", 1),
        Received("m", "r", "b", 1),
    ]


@pytest.mark.parametrize(
    "event", [None, [], {}, {"Records": {}}, {"Records": []}, {"Records": [None]}, {"Records": [{"messageId": 1}]}]
)
def test_what_is_no_batch_is_said_to_be_none(event: object) -> None:
    with pytest.raises(NoBatch, match="expected an SQS batch event"):
        read_batch(event)  # type: ignore[arg-type]


@pytest.mark.parametrize("given_back", [[], ["1"], ["0", "2"], ["0", "1", "2"]])
def test_the_answer_names_what_is_given_back_and_nothing_else(given_back: list[str]) -> None:
    records = [{"messageId": str(i), "receiptHandle": "r", "body": "b", "eventSource": "aws:sqs"} for i in range(3)]
    answer = partial_response({"Records": records}, given_back)
    assert answer == {"batchItemFailures": [{"itemIdentifier": i} for i in given_back]}
