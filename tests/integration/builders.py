"""Builders for the AWS side that state only what a case is about."""

from datetime import UTC, datetime, timedelta

from lambdas.domain.values.drains import DrainRecord, Ending
from lambdas.domain.values.notices import Notice, Reason
from tests.unit.events.bodies import INSTANCE

NOTICED = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """So many seconds after the notice."""
    return NOTICED + timedelta(seconds=seconds)


def a_notice(instance_id: str = INSTANCE, noticed_at: datetime = NOTICED) -> Notice:
    """A spot notice."""
    return Notice(instance_id, Reason.SPOT_INTERRUPTION, noticed_at, noticed_at + timedelta(minutes=2))


def a_record(
    notice: Notice | None = None, ending: Ending = Ending.DRAINED, ended_at: datetime | None = None
) -> DrainRecord:
    """How it ended; at 40 s if not said."""
    return DrainRecord(
        notice=notice or a_notice(),
        ending=ending,
        node_name="ip-10-0-0-1",
        started_at=at(1),
        ended_at=ended_at or at(40),
        cordoned_at=at(2),
    )
