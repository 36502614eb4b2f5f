"""Messages that cannot be understood, kept in a queue that people look at.

Law: what is kept can be read again, body and reason; whatever SQS refuses to carry is replaced, never dropped.
"""

import re
from typing import TYPE_CHECKING, Final

from lambdas.adapters import aws_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

REASON: Final = "reason"
"""Name of the message attribute."""

_NOT_CARRIED: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""SQS API, SendMessage: characters outside these are refused."""

_EMPTY: Final = "(the body was empty)"
_LONGEST_REASON: Final = 1000


class SqsMalformedMessages:
    """`MalformedMessages` in one queue: the notice queue's own dead-letter queue."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def keep(self, body: str, reason: str) -> None:
        """Send the body there, with the reason as a message attribute. Raises PortError."""
        with aws_errors("sqs:SendMessage", f"queue {self._queue_url}"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=_carried(body) or _EMPTY,
                MessageAttributes={
                    REASON: {"DataType": "String", "StringValue": _carried(reason)[:_LONGEST_REASON] or "unknown"}
                },
            )


def _carried(text: str) -> str:
    return _NOT_CARRIED.sub("\ufffd", text)
