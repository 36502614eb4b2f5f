"""A drain's record as JSON: the one form that the ledger, the log and reports share.

Law: nothing but what the record says, moments in RFC 3339 (UTC, `Z`), durations in seconds and named so.
"""

from datetime import UTC, datetime, timedelta

from lambdas.domain.values.drains import DrainRecord, PodFate, Problem
from lambdas.domain.values.notices import Notice

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


def record_as_json(record: DrainRecord) -> dict[str, JsonValue]:
    """The whole record; `json.dumps` takes it as it is."""
    return {
        "notice": _notice(record.notice),
        "ending": record.ending.value,
        "node": record.node_name,
        "started_at": _moment(record.started_at),
        "cordoned_at": _moment(record.cordoned_at),
        "first_signal_at": _moment(record.first_signal_at),
        "ended_at": _moment(record.ended_at),
        "is_late": record.is_late,
        "pods": [_pod(pod) for pod in record.pods],
        "skipped": [{"pod": str(ref), "reason": reason} for ref, reason in record.skipped],
        "problems": [_problem(problem) for problem in record.problems],
    }


def _notice(notice: Notice) -> dict[str, JsonValue]:
    return {
        "instance_id": notice.instance_id,
        "reason": notice.reason.value,
        "noticed_at": _moment(notice.noticed_at),
        "reclaim_at": _moment(notice.reclaim_at),
        "is_replayed": notice.is_replayed,
    }


def _pod(fate: PodFate) -> dict[str, JsonValue]:
    return {
        "pod": str(fate.pod),
        "uid": fate.pod.uid,
        "departure": fate.departure.value,
        "grace_given_seconds": _seconds(fate.grace_given),
        "signalled_at": _moment(fate.signalled_at),
        "gone_at": _moment(fate.gone_at),
        "held_by": [str(budget) for budget in fate.held_by],
        "note": fate.note,
    }


def _problem(problem: Problem) -> dict[str, JsonValue]:
    return {"trouble": problem.trouble.name.lower(), "message": problem.message}


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
