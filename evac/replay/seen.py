"""How few Ready pods workloads had on a real cluster, as the drains themselves saw it."""

from collections.abc import Iterable

from evac.replay.outcome import Low
from lambdas.domain.values.courses import WorkloadStory
from lambdas.domain.values.drains import DrainRecord


def workloads_seen(records: Iterable[DrainRecord]) -> list[Low]:
    """One for each workload; of several nodes' the lowest."""
    found: dict[tuple[str, str], Low] = {}
    for story in (story for record in records for story in record.workloads):
        low = _low(story)
        if low is not None:
            known = found.get((low.kind, low.name))
            found[low.kind, low.name] = low if known is None else min(known, low, key=lambda each: each.fewest)
    return [found[key] for key in sorted(found)]


def _low(story: WorkloadStory) -> Low | None:
    if not story.curve or story.fewest_ready_at is None:
        return None
    before = story.curve[0].ready
    return Low(story.kind, str(story), story.replicas, before, story.fewest_ready, story.fewest_ready_at)
