"""The drain ledger in DynamoDB: one item an instance, with its lock and the record of its last drain.

Law: every write is conditional and one call, so that two invocations never both believe that a node is theirs, and a
late one never overwrites what another wrote. Moments are RFC 3339 in UTC with microseconds: they compare as text.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from lambdas.adapters import aws_errors
from lambdas.contract import LEDGER_EXPIRES, LEDGER_KEY
from lambdas.domain.errors import PassingError
from lambdas.domain.values.drain_excerpt import excerpt
from lambdas.domain.values.drains import DrainRecord, Ending
from lambdas.domain.values.locks import Acquired, Ended, Held, Lock
from lambdas.domain.values.notices import Notice

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import UniversalAttributeValueTypeDef as Attribute

_HISTORY: Final = timedelta(days=30)
_MOST_TEXT: Final = 350_000
"""DynamoDB, service quotas: an item has at most 400 KB; the text is ASCII."""

_DONE: Final = {ending.value for ending in Ending if ending.gave_pods_their_chance}
_NAMES: Final = {"#owner": "owner", "#expires": LEDGER_EXPIRES}  # two of them are reserved words
_IS_FREE: Final = "(attribute_not_exists(#owner) OR #owner = :me OR lock_until <= :now)"
_IS_UNDONE: Final = (
    "(attribute_not_exists(ended_at) OR ended_at < :noticed_at OR NOT (ending IN (:drained, :pods_lost)))"
)
_IS_OURS: Final = "#owner = :me"
_IS_NOBODY_S: Final = f"(attribute_not_exists(#owner) AND {_IS_UNDONE})"


class DynamoDbLedger:
    """A `DrainLedger` on one table, keyed by instance id; items leave by their time to live."""

    def __init__(self, client: "DynamoDBClient", table_name: str) -> None:
        self._client = client
        self._table = table_name

    def acquire(self, notice: Notice, owner: str, now: datetime, until: datetime) -> Lock:
        """Take or renew the lock, in one UpdateItem; a refusal brings the item that refused it."""
        refused_by = self._update(
            notice,
            "SET #owner = :me, lock_until = :until, #expires = :expires",
            f"{_IS_FREE} AND {_IS_UNDONE}",
            _asked(notice, owner, now) | {":until": _moment(until), ":now": _moment(now)},
        )
        return Acquired(until) if refused_by is None else _read_refusal(refused_by, notice)

    def finish(self, record: DrainRecord, owner: str, now: datetime) -> None:
        """Write the record and free the lock, where it is ours.

        Also where nobody holds it and no drain ended since this notice: the ledger was away when it was asked for.
        """
        self._update(
            record.notice,
            "SET ending = :ending, ended_at = :ended_at, #record = :record, #expires = :expires "
            "REMOVE #owner, lock_until",
            f"{_IS_OURS} OR {_IS_NOBODY_S}",
            _asked(record.notice, owner, now)
            | {
                ":ending": {"S": record.ending.value},
                ":ended_at": _moment(record.ended_at or now),
                ":record": {"S": _written(record)},
            },
            {"#record": "record"},
        )

    def _update(
        self,
        notice: Notice,
        update: str,
        condition: str,
        values: "Mapping[str, Attribute]",
        names: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any] | None:
        """None where it was done, else the item whose state refused it."""
        with aws_errors("dynamodb:UpdateItem", f"table {self._table}"):
            try:
                self._client.update_item(
                    TableName=self._table,
                    Key={LEDGER_KEY: {"S": notice.instance_id}},
                    UpdateExpression=update,
                    ConditionExpression=condition,
                    ExpressionAttributeNames={**_NAMES, **(names or {})},
                    ExpressionAttributeValues=values,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except self._client.exceptions.ConditionalCheckFailedException as refusal:
                response: Mapping[str, Any] = refusal.response
                return response.get("Item") or {}
        return None


def _written(record: DrainRecord) -> str:
    """The record as text that an item holds; what is left out is counted in it."""
    return json.dumps(excerpt(record, _MOST_TEXT), separators=(",", ":"))


def _asked(notice: Notice, owner: str, now: datetime) -> "dict[str, Attribute]":
    return {
        ":me": {"S": owner},
        ":noticed_at": _moment(notice.noticed_at),
        ":expires": {"N": str(int((now + _HISTORY).timestamp()))},
        ":drained": {"S": Ending.DRAINED.value},
        ":pods_lost": {"S": Ending.PODS_LOST.value},
    }


def _read_refusal(item: Mapping[str, Any], notice: Notice) -> Lock:
    """Why the lock is not ours: a drain that ended since the notice says more than whoever holds the node now."""
    ended_at, ending = _text(item, "ended_at"), _text(item, "ending")
    if ending in _DONE and ended_at >= _moment(notice.noticed_at)["S"]:
        return Ended(datetime.fromisoformat(ended_at), ending)
    if _text(item, "lock_until"):
        return Held(_text(item, "owner"), datetime.fromisoformat(_text(item, "lock_until")))
    raise PassingError(f"the ledger refused the lock of {notice.instance_id} and did not say for whom")


def _text(item: Mapping[str, Any], name: str) -> str:
    return str(item.get(name, {}).get("S", ""))


def _moment(moment: datetime) -> dict[str, str]:
    return {"S": moment.astimezone(UTC).isoformat(timespec="microseconds")}
