"""The visibility of the messages that this invocation works on.

Law: one message that cannot be held (deleted, expired, taken over) never costs its neighbours their hold.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from lambdas.adapters import aws_errors, chunks
from lambdas.domain.errors import PassingError, PortError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import BatchResultErrorEntryTypeDef

_MOST_ENTRIES: Final = 10
"""SQS API, ChangeMessageVisibilityBatch: entries a call."""


class SqsMessageLease:
    """A `MessageLease` on one queue. `receipts`: the receipt handle of each message id, as this delivery gave it."""

    def __init__(self, client: "SQSClient", queue_url: str, receipts: Mapping[str, str]) -> None:
        self._client = client
        self._queue_url = queue_url
        self._receipts = receipts

    def hold(self, message_ids: Iterable[str], visibility: timedelta) -> None:
        """Each is invisible for `visibility` from now, to the whole second above.

        Raises PortError once all were tried, naming those that could not be held.
        """
        ids = list(dict.fromkeys(message_ids))
        failed = [f"{message_id} (not of this batch)" for message_id in ids if message_id not in self._receipts]
        last: PortError | None = None
        for chunk in chunks((message_id for message_id in ids if message_id in self._receipts), _MOST_ENTRIES):
            try:
                failed += self._hold_chunk(chunk, visibility)
            except PortError as error:
                last = error
        if last is not None:
            raise last
        if failed:
            raise PassingError(f"{len(failed)} of {len(ids)} messages could not be held: {'; '.join(failed)}")

    def _hold_chunk(self, ids: list[str], visibility: timedelta) -> list[str]:
        """Those that SQS refused, with its words. The entries' own ids only tell them apart within the call."""
        seconds = -(-visibility // timedelta(seconds=1))
        with aws_errors("sqs:ChangeMessageVisibility", f"queue {self._queue_url}"):
            response = self._client.change_message_visibility_batch(
                QueueUrl=self._queue_url,
                Entries=[
                    {"Id": str(i), "ReceiptHandle": self._receipts[message_id], "VisibilityTimeout": seconds}
                    for i, message_id in enumerate(ids)
                ],
            )
        return [f"{ids[int(entry['Id'])]} ({_words(entry)})" for entry in response.get("Failed", [])]


def _words(entry: "BatchResultErrorEntryTypeDef") -> str:
    return f"{entry['Code']}: {entry.get('Message', '')}"
