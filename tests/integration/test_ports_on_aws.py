"""The adapters keep the contracts of their ports, on moto."""

import itertools
import math
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.backends import get_backend

from lambdas import contract
from lambdas.adapters.dynamodb import DynamoDbLedger
from lambdas.adapters.ec2 import Ec2InstanceDirectory
from lambdas.adapters.sqs_lease import SqsMessageLease
from lambdas.adapters.sqs_malformed import REASON, SqsMalformedMessages
from lambdas.application.ports import InstanceDirectory, MalformedMessages, MessageLease
from tests.contract.directory_contract import *  # noqa: F403 - all of its tests
from tests.contract.ledger_contract import *  # noqa: F403 - all of its tests
from tests.contract.messages_contract import *  # noqa: F403 - all of its tests
from tests.integration.conftest import ACCOUNT, REGION

pytestmark = pytest.mark.usefixtures("shared_aws")

_NUMBERS = itertools.count()
_QUEUE_TIMEOUT = 180


class Account:
    """EC2, with the adapter in front."""

    def __init__(self) -> None:
        self._ec2: Any = boto3.client("ec2")
        self.directory: InstanceDirectory = Ec2InstanceDirectory(self._ec2)

    def launch(self, *cluster_names: str) -> str:
        tags = [{"Key": f"kubernetes.io/cluster/{name}", "Value": "owned"} for name in cluster_names]
        reservation = self._ec2.run_instances(
            ImageId="ami-0a1b2c3d4e5f60718",
            MinCount=1,
            MaxCount=1,
            **({"TagSpecifications": [{"ResourceType": "instance", "Tags": tags}]} if tags else {}),
        )
        return str(reservation["Instances"][0]["InstanceId"])

    def terminate(self, instance_id: str) -> None:
        self._ec2.terminate_instances(InstanceIds=[instance_id])


class Queue:
    """A queue of SQS, and moto's books on when its messages are visible again."""

    def __init__(self) -> None:
        self._sqs: Any = boto3.client("sqs")
        self._name = f"notices-{next(_NUMBERS)}"
        self._url = self._sqs.create_queue(QueueName=self._name, Attributes={"VisibilityTimeout": str(_QUEUE_TIMEOUT)})[
            "QueueUrl"
        ]
        self._held_at = time.time()

    def receive(self, number: int) -> tuple[list[str], MessageLease]:
        for i in range(number):
            self._sqs.send_message(QueueUrl=self._url, MessageBody=str(i))
        receipts: dict[str, str] = {}
        while len(receipts) < number:
            for message in self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10)["Messages"]:
                receipts[message["MessageId"]] = message["ReceiptHandle"]
        self._lease = SqsMessageLease(self._sqs, self._url, receipts)
        return list(receipts), self

    def hold(self, message_ids: Iterable[str], visibility: timedelta) -> None:
        """The adapter's own, with its moment remembered."""
        try:
            self._lease.hold(message_ids, visibility)
        finally:
            self._held_at = time.time()

    def is_held_for(self, message_id: str) -> timedelta | None:
        """To the whole second above: some milliseconds pass before SQS's answer is here."""
        messages = get_backend("sqs")[ACCOUNT][REGION].queues[self._name]._messages
        (visible_at,) = [message.visible_at / 1000 for message in messages if message.id == message_id]
        seconds = max(0, math.ceil(visible_at - self._held_at))
        return None if seconds > _QUEUE_TIMEOUT - 10 else timedelta(seconds=seconds)


class Kept:
    """A dead-letter queue of SQS."""

    def __init__(self) -> None:
        self._sqs: Any = boto3.client("sqs")
        self._url = self._sqs.create_queue(QueueName=f"rejected-{next(_NUMBERS)}")["QueueUrl"]
        self.port: MalformedMessages = SqsMalformedMessages(self._sqs, self._url)

    def all(self) -> list[tuple[str, str]]:
        messages = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, MessageAttributeNames=[REASON]
        )["Messages"]
        return [(m["Body"], m["MessageAttributes"][REASON]["StringValue"]) for m in messages]


@pytest.fixture
def ledger() -> DynamoDbLedger:
    """A new table with the key that the stack gives it."""
    client: Any = boto3.client("dynamodb")
    name = f"ledger-{next(_NUMBERS)}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": contract.LEDGER_KEY, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": contract.LEDGER_KEY, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return DynamoDbLedger(client, name)


@pytest.fixture
def instances() -> Account:
    return Account()


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def kept() -> Kept:
    return Kept()
