"""An SQS batch event, in and out: what was received, and which of it is to be seen again.

Law: every record has its own fate; what is not named in the answer is deleted by the event source.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


class NoBatch(ValueError):
    """The event is no SQS batch: somebody invoked the function by hand, or wired another source to it."""


@dataclass(frozen=True, slots=True)
class Received:
    """One message of the batch. `receives`: how often SQS has handed it out, this time included."""

    message_id: str
    receipt_handle: str
    body: str
    receives: int = 1


def read_batch(event: Json) -> list[Received]:
    """The messages of an SQS event (Lambda developer guide, SQS event). Raises NoBatch."""
    records = event.get("Records") if isinstance(event, Mapping) else None
    if not isinstance(records, list) or not records or not all(_is_message(record) for record in records):
        raise NoBatch('expected an SQS batch event: {"Records": [{"messageId": …, "receiptHandle": …, "body": …}]}')
    return [_read(record) for record in records]


def _is_message(record: Any) -> bool:
    names = ("messageId", "receiptHandle", "body")
    return isinstance(record, Mapping) and all(isinstance(record.get(name), str) for name in names)


def _read(record: Json) -> Received:
    attributes = record.get("attributes") or {}
    receives = str(attributes.get("ApproximateReceiveCount") or "1")
    return Received(
        record["messageId"], record["receiptHandle"], record["body"], int(receives) if receives.isdecimal() else 1
    )


class GivenBack(Exception):
    """The message is to be seen again."""


def partial_response(event: Json, given_back: Collection[str]) -> dict[str, Any]:
    """The answer that keeps the messages of these ids in the queue and lets the event source delete all others."""
    # Here and not above: it takes a tenth of a cold start, and no notice should wait for it.
    from aws_lambda_powertools.utilities.batch import (  # noqa: PLC0415
        BatchProcessor,
        EventType,
        process_partial_response,
    )
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord  # noqa: PLC0415

    def settle(record: SQSRecord) -> None:
        if record.message_id in given_back:
            raise GivenBack(record.message_id)

    # A whole batch given back is an answer like any other, not a failed invocation: no alarm for it.
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(process_partial_response(dict(event), settle, processor))
