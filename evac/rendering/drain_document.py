"""One drain in the JSON document of a replay; the fields are described where the document is."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from evac.replay.outcome import Replay
from lambdas.domain.values.courses import BudgetStory, Level, WorkloadStory
from lambdas.domain.values.drains import DrainRecord, PodFate

Json = dict[str, Any]


def drain_as_json(replay: Replay, record: DrainRecord) -> Json:
    """The whole of it."""
    notice = record.notice
    return {
        "instance_id": notice.instance_id,
        "node": record.node_name or None,
        "reason": notice.reason.value,
        "ending": record.ending.value,
        "is_late": record.is_late,
        "noticed_at_s": replay.offset(notice.noticed_at),
        "reclaim_at_s": replay.offset(notice.reclaim_at) if notice.has_deadline else None,
        "reclaimed_at_s": replay.offset(replay.reclaimed_at.get(record.node_name)),
        "started_at_s": replay.offset(record.started_at),
        "cordoned_at_s": replay.offset(record.cordoned_at),
        "excluded_at_s": replay.offset(record.excluded_at),
        "first_release_at_s": replay.offset(record.first_release_at),
        "first_signal_at_s": replay.offset(record.first_signal_at),
        "last_gone_at_s": replay.offset(record.last_gone_at),
        "ended_at_s": replay.offset(record.ended_at),
        "pods": [_pod(replay, record, fate) for fate in record.pods],
        "budgets": [_budget(replay, story) for story in record.budgets],
        "workloads": [_workload(replay, story) for story in record.workloads],
        "skipped": [{"namespace": p.namespace, "name": p.name, "reason": why} for p, why in record.skipped],
        "problems": [{"kind": p.trouble.name.lower(), "message": p.message} for p in record.problems],
    }


def _pod(replay: Replay, record: DrainRecord, fate: PodFate) -> Json:
    return {
        "namespace": fate.pod.namespace,
        "name": fate.pod.name,
        "uid": fate.pod.uid,
        "departure": fate.departure.name.lower(),
        "graceful": fate.departure.is_graceful,
        "cut_short": fate.pod.uid in replay.cut_short,
        "signalled_at_s": replay.offset(fate.signalled_at),
        "grace_s": seconds(fate.grace_given),
        "gone_at_s": replay.offset(fate.gone_at),
        "held_by": [str(budget) for budget in fate.held_by],
        "note": fate.note,
        "own_grace_s": seconds(replay.own_grace(fate)),
        "workload": fate.workload,
        "released_at_s": replay.offset(fate.released_at),
        "replaced_at_s": replay.offset(fate.replaced_at),
        "not_released": fate.not_released,
        "last_safe_at_s": replay.offset(fate.last_safe_at) if record.notice.has_deadline else None,
        "shutdown_s": seconds(fate.shutdown),
    }


def _budget(replay: Replay, story: BudgetStory) -> Json:
    return {
        "name": str(story.ref),
        "rule": story.rule,
        "held_s": seconds(story.held_for),
        "exceeded_by": story.exceeded_by,
        "exceeded_at_s": replay.offset(story.exceeded_at),
        "arithmetic": story.arithmetic,
        "curve": _curve(replay, story.curve),
    }


def _workload(replay: Replay, story: WorkloadStory) -> Json:
    return {
        "kind": story.kind,
        "name": str(story),
        "replicas": story.replicas,
        "fewest_ready": story.fewest_ready,
        "fewest_ready_at_s": replay.offset(story.fewest_ready_at),
        "counted_by": story.counted_by,
        "curve": _curve(replay, story.curve),
    }


def _curve(replay: Replay, curve: Iterable[Level]) -> list[Json]:
    return [{"at_s": replay.offset(level.at), "ready": level.ready, "wanted": level.wanted} for level in curve]


def seconds(duration: timedelta | None) -> float | None:
    """A duration in seconds; null where there is none."""
    return None if duration is None else duration.total_seconds()
