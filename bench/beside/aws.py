"""A pretended AWS account behind an address of its own, so that what pretends does not weigh on who is measured.

moto answers inside this process; a small HTTP server passes on to it what the invocations ask of AWS_ENDPOINT_URL.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, cast
from unittest.mock import patch

import boto3
import requests
from moto import mock_aws

from lambdas import contract

Json = dict[str, Any]

CLUSTER = "bench"
_REGION = "eu-west-1"
_CREDENTIALS = {
    "AWS_DEFAULT_REGION": _REGION,
    "AWS_REGION": _REGION,
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLEEXAMPLE00",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
_SCOPE = re.compile(r"Credential=[^/]+/\d+/([^/]+)/([^/]+)/")
_HOP_BY_HOP = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


class Account:
    """The stack's queue and ledger, instances, and the environment of a function there."""

    def __init__(self, url: str) -> None:
        sqs: Any = boto3.client("sqs")
        self._sqs = sqs
        self._lock = Lock()
        self._received: dict[str, Json] = {}
        self._queue = str(sqs.create_queue(QueueName="notices")["QueueUrl"])
        malformed = str(sqs.create_queue(QueueName="malformed")["QueueUrl"])
        boto3.client("dynamodb").create_table(
            TableName="ledger",
            KeySchema=[{"AttributeName": contract.LEDGER_KEY, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": contract.LEDGER_KEY, "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.environment = {
            **_CREDENTIALS,
            "AWS_ENDPOINT_URL": url,
            contract.ENV_CLUSTER_NAME: CLUSTER,
            contract.ENV_LEDGER_TABLE: "ledger",
            contract.ENV_QUEUE_URL: self._queue,
            contract.ENV_MALFORMED_QUEUE_URL: malformed,
        }

    def instances(self, count: int) -> dict[str, str]:
        """Running instances of the cluster: their ids by their private DNS names, which are their nodes'."""
        tags = [{"Key": f"kubernetes.io/cluster/{CLUSTER}", "Value": "owned"}]
        ec2: Any = boto3.client("ec2")
        made = ec2.run_instances(
            ImageId="ami-0a1b2c3d4e5f60718",
            MinCount=count,
            MaxCount=count,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )
        return {str(it["PrivateDnsName"]): str(it["InstanceId"]) for it in made["Instances"]}

    def deliver(self, bodies: Sequence[Json]) -> list[Json]:
        """Put events into the queue, as EventBridge does, and receive them again as the messages of one batch."""
        ids = [
            str(self._sqs.send_message(QueueUrl=self._queue, MessageBody=json.dumps(body))["MessageId"])
            for body in bodies
        ]
        found: list[Json] = []
        while len(found) < len(ids):
            found += self.receive(ids)
        return found

    def receive(self, ids: Sequence[str]) -> list[Json]:
        """Those of these messages that are visible. Others are kept for whoever asks for them."""
        with self._lock:
            answer = self._sqs.receive_message(
                QueueUrl=self._queue, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
            )
            self._received |= {message["MessageId"]: message for message in answer.get("Messages", ())}
            return [self._received.pop(it) for it in ids if it in self._received]

    def delete(self, message: Json) -> None:
        """What the event source mapping does with a message that was not given back."""
        self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=message["ReceiptHandle"])


def batch_of(messages: Sequence[Json]) -> Json:
    """The event that Lambda makes of received messages."""
    return {"Records": [_record(message) for message in messages]}


@contextmanager
def account() -> Iterator[Account]:
    """An account for one run."""
    with patch.dict("os.environ", _CREDENTIALS), mock_aws():
        front = ThreadingHTTPServer(("127.0.0.1", 0), _Front)
        front.daemon_threads = True
        Thread(target=front.serve_forever, daemon=True).start()
        try:
            yield Account(f"http://127.0.0.1:{front.server_port}")
        finally:
            front.shutdown()
            front.server_close()


class _Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Pass on, to the service and region that the request is signed for."""
        scope = _SCOPE.search(self.headers["Authorization"])
        assert scope, "unsigned"
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {key: value for key, value in self.headers.items() if key.lower() not in _HOP_BY_HOP}
        region, service = scope.groups()
        answer = requests.post(
            f"https://{service}.{region}.amazonaws.com{self.path}", body, headers=headers, timeout=30
        )
        self.send_response(answer.status_code)
        for key, value in cast(Mapping[str, str], answer.headers).items():
            if key.lower() not in _HOP_BY_HOP | {"server", "date", "content-encoding"}:
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: object) -> None:
        """Nothing: the figures are what is printed."""


def _record(message: Json) -> Json:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{_REGION}:123456789012:notices",
        "awsRegion": _REGION,
    }
