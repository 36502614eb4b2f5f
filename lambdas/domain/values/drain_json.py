"""A drain's record as JSON: the one form that the ledger, the log and reports share.

Law: nothing but what the record says, moments in RFC 3339 (UTC, `Z`), durations in seconds and named so.
"""

from datetime import UTC, datetime, timedelta

from lambdas.domain.values.courses import BudgetStory, WorkloadStory
from lambdas.domain.values.drains import DrainRecord, PodFate, Problem
from lambdas.domain.values.notices import Notice

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
JsonObject = dict[str, JsonValue]


def heading(record: DrainRecord) -> JsonObject:
    """What there is one of: the notice, the node, its timeline."""
    return {
        "notice": _notice(record.notice),
        "ending": record.ending.value,
        "node": record.node_name,
        "started_at": _moment(record.started_at),
        "cordoned_at": _moment(record.cordoned_at),
        "excluded_at": _moment(record.excluded_at),
        "first_release_at": _moment(record.first_release_at),
        "first_signal_at": _moment(record.first_signal_at),
        "last_gone_at": _moment(record.last_gone_at),
        "ended_at": _moment(record.ended_at),
        "is_late": record.is_late,
    }


def _notice(notice: Notice) -> JsonObject:
    return {
        "instance_id": notice.instance_id,
        "reason": notice.reason.value,
        "noticed_at": _moment(notice.noticed_at),
        "reclaim_at": _moment(notice.reclaim_at) if notice.has_deadline else None,
        "is_replayed": notice.is_replayed,
    }


def pod_as_json(fate: PodFate) -> JsonObject:
    """One pod's story."""
    return {
        "pod": str(fate.pod),
        "uid": fate.pod.uid,
        "workload": fate.workload,
        "departure": fate.departure.value,
        "released_at": _moment(fate.released_at),
        "replaced_at": _moment(fate.replaced_at),
        "not_released": fate.not_released,
        "last_safe_at": _moment(fate.last_safe_at),
        "grace_given_seconds": _seconds(fate.grace_given),
        "signalled_at": _moment(fate.signalled_at),
        "gone_at": _moment(fate.gone_at),
        "shutdown_seconds": _seconds(fate.shutdown),
        "held_by": [str(budget) for budget in fate.held_by],
        "note": fate.note,
    }


def budget_as_json(story: BudgetStory) -> JsonObject:
    """One budget's, without its curve."""
    return {
        "budget": str(story.ref),
        "rule": story.rule,
        "held_seconds": _seconds(story.held_for),
        "exceeded_by": story.exceeded_by,
        "exceeded_at": _moment(story.exceeded_at),
        "arithmetic": story.arithmetic,
    }


def workload_as_json(story: WorkloadStory) -> JsonObject:
    """One workload's, without its curve."""
    return {
        "kind": story.kind,
        "workload": str(story),
        "replicas": story.replicas,
        "fewest_ready": story.fewest_ready,
        "fewest_ready_at": _moment(story.fewest_ready_at),
        "counted_by": story.counted_by,
    }


def skipped_as_json(ref: object, reason: str) -> JsonObject:
    """A pod that was left alone."""
    return {"pod": str(ref), "reason": reason}


def problem_as_json(problem: Problem) -> JsonObject:
    """What went wrong."""
    return {"trouble": problem.trouble.name.lower(), "message": problem.message}


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
