"""The figures behind the charts, as tables."""

from collections.abc import Iterable, Sequence

from evac.rendering.words import seconds
from evac.report.markup import Html, tag
from evac.report.told import Told
from lambdas.domain.values.drains import Departure, DrainRecord, PodFate


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """One table; it scrolls by itself where a page is too narrow for it."""
    head = tag("tr", *(tag("th", column, scope="col") for column in columns))
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    made = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("div", made, class_="scroll")


def timeline_table(told: Told, record: DrainRecord) -> Html:
    """The node's moments."""
    moments = [("notice", record.notice.noticed_at), ("taken up", record.started_at), *record.timeline]
    moments.append(("reclaim", told.reclaim(record)))
    rows = [(name, told.at(at), at.isoformat(timespec="milliseconds")) for name, at in moments if at is not None]
    return table("Timeline of the node", ("", "after the first notice", "time"), rows)


def pods_table(told: Told, record: DrainRecord) -> Html:
    """Every pod, the first to be signalled first."""
    columns = ("pod", "how it left", "released", "replaced", "SIGTERM", "grace", "shutdown", "gone", "held by", "why")
    fates = sorted(record.pods, key=lambda f: (f.signalled_at or record.notice.reclaim_at, f.pod))
    return table("Pods", columns, (_pod(told, fate) for fate in fates))


def _pod(told: Told, fate: PodFate) -> Sequence[str]:
    not_released = fate.not_released and f"not released: {fate.not_released}"
    return (
        str(fate.pod),
        fate.departure.value,
        told.at(fate.released_at),
        told.at(fate.replaced_at),
        told.at(fate.signalled_at),
        seconds(fate.grace_given),
        "–" if fate.shutdown is None else f"{fate.shutdown.total_seconds():.1f}s",
        told.at(fate.gone_at),
        ", ".join(budget.name for budget in fate.held_by),
        "; ".join(part for part in (fate.note, not_released) if part),
    )


def budgets_table(told: Told, record: DrainRecord) -> Html:
    """Every budget that covered pods of the node."""
    columns = ("PodDisruptionBudget", "rule", "held", "exceeded by", "at", "pods against it", "why so many at a time")
    rows = [
        (
            str(story.ref),
            story.rule,
            f"{story.held_for.total_seconds():.1f}s",
            str(story.exceeded_by or "–"),
            told.at(story.exceeded_at),
            str(_against(record, str(story.ref)) or "–"),
            story.arithmetic,
        )
        for story in record.budgets
    ]
    return table("Disruption budgets", columns, rows)


def _against(record: DrainRecord, budget: str) -> int:
    against = (f for f in record.pods if f.departure is Departure.DELETED_AGAINST_BUDGET)
    return sum(1 for fate in against if budget in map(str, fate.held_by))


def workloads_table(told: Told, record: DrainRecord) -> Html:
    """Every workload of which pods were drained."""
    columns = ("workload", "replicas", "fewest Ready", "at", "counted by")
    rows = [
        (
            f"{story.kind} {story}",
            str(story.replicas),
            str(story.fewest_ready),
            told.at(story.fewest_ready_at),
            story.counted_by and f"PDB {story.counted_by}",
        )
        for story in record.workloads
    ]
    return table("Workloads", columns, rows)


def skipped_table(record: DrainRecord) -> Html:
    """The pods that were left alone."""
    return table("Left alone", ("pod", "because"), ((str(ref), why) for ref, why in record.skipped))


def journal_table(told: Told) -> Html:
    """Everything, line by line."""
    rows = ((told.at(line.at), line.what, line.node_name, line.subject, line.detail) for line in told.lines)
    return table("Everything in order", ("when", "what", "node", "about", "detail"), rows)
