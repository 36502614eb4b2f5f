"""What came of a drain for maintenance, in sentences: nobody takes the host, so that what is still there lives on."""

from collections.abc import Iterator

from evac.rendering.words import clean, folded, offset, plural
from evac.replay.outcome import Mode, Replay
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate


def emptied_sentences(replay: Replay) -> Iterator[str]:
    """How each node stands, and what to do next."""
    for reason, fates in _still_there(replay).items():
        names = " ".join(folded([str(fate.pod) for fate in fates]))
        would = "would still be" if replay.mode is Mode.DRY_RUN else "still"
        yield f"{plural(len(fates), 'pod')} {would} there: {reason}: {names}"
    if replay.mode is Mode.LIVE:
        for record in replay.drains:
            yield _next(record)


def _still_there(replay: Replay) -> dict[str, list[PodFate]]:
    found: dict[str, list[PodFate]] = {}
    for fate in replay.fates:
        if fate.departure is Departure.STAYED:
            found.setdefault(clean(fate.note) or "its shutdown is not over", []).append(fate)
    return found


def _next(record: DrainRecord) -> str:
    name = clean(record.node_name)
    if record.ending is Ending.DRAINED:
        return f"{name} is empty and stays cordoned; evac undo {name} gives it pods again"
    return f"{name} is not empty; evac drain {name} goes on, evac undo {name} takes it back"


def emptied_sum(replay: Replay, cost: str) -> str:
    """The closing sentence. `cost`: the budgets that were exceeded, in words."""
    fates = replay.fates
    if not fates:
        return "no pod to drain"
    would = "would have " if replay.mode is Mode.DRY_RUN else ""
    stayed = sum(1 for fate in fates if not fate.departure.is_graceful)
    if stayed:
        verb = "would still be there" if would else "still there"
        return f"{plural(len(fates), 'pod')}: {len(fates) - stayed} {would}left gracefully, {stayed} {verb}{cost}"
    empty_at = max((r.ended_at for r in replay.drains if r.ended_at), default=None)
    cut = sum(1 for fate in fates if fate.pod.uid in replay.cut_short)
    killed = f", {cut} by SIGKILL at the end of their grace" if cut else ""
    how = "" if cut or cost else " gracefully"
    when = f", {plural(len(replay.drains), 'node')} empty at {offset(replay.offset(empty_at))}"
    return f"{plural(len(fates), 'pod')}: all {would}left{how}{killed}{when}{cost}"


def deadline_words(replay: Replay, record: DrainRecord) -> str:
    """The node's deadline, beside its name."""
    if not record.notice.has_deadline:
        return "no deadline"
    return f"to be empty by {offset(replay.offset(record.notice.reclaim_at))}"


def who(record: DrainRecord) -> str:
    """The node's name, with its instance where it has one."""
    name, instance = clean(record.node_name), clean(record.notice.instance_id)
    return name if instance == name else f"{name} ({instance})"
