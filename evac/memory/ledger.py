"""`DrainLedger` in memory: drain locks and outcomes by instance."""

from dataclasses import dataclass
from datetime import datetime

from lambdas.domain.errors import PortError
from lambdas.domain.values.drains import DrainRecord, Ending
from lambdas.domain.values.locks import Acquired, Ended, Held, Lock
from lambdas.domain.values.notices import Notice


@dataclass(slots=True)
class _Row:
    owner: str = ""
    locked_until: datetime | None = None
    ended: Ended | None = None

    def done_since(self, notice: Notice) -> Ended | None:
        """The drain that ended since the notice was sent, and gave its pods their chance."""
        if self.ended is None or not Ending(self.ended.ending).gave_pods_their_chance:
            return None
        return self.ended if self.ended.ended_at >= notice.noticed_at else None


class MemoryLedger:
    """Law: one owner a node at a time; a lock that was not renewed is anybody's."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self.records: list[DrainRecord] = []
        """Every outcome that was written, oldest first."""
        self.error: PortError | None = None

    def acquire(self, notice: Notice, owner: str, now: datetime, until: datetime) -> Lock:
        """Take or renew the lock until `until`; an outcome written since the notice was sent, or another's lock."""
        if self.error:
            raise self.error
        row = self._rows.setdefault(notice.instance_id, _Row())
        ended = row.done_since(notice)
        if ended is not None:
            return ended
        if row.locked_until is not None and row.locked_until > now and row.owner != owner:
            return Held(row.owner, row.locked_until)
        row.owner, row.locked_until = owner, until
        return Acquired(until)

    def finish(self, record: DrainRecord, owner: str, now: datetime) -> None:
        """Write the outcome and free the lock, where it is ours.

        Also where nobody holds it and no drain ended since this notice: the ledger was away when it was asked for.
        """
        if self.error:
            raise self.error
        row = self._rows.setdefault(record.notice.instance_id, _Row())
        is_ours = row.locked_until is not None and row.owner == owner
        is_nobodys = row.locked_until is None and row.done_since(record.notice) is None
        if not is_ours and not is_nobodys:
            return
        row.owner, row.locked_until = "", None
        row.ended = Ended(record.ended_at or now, record.ending.value)
        self.records.append(record)
