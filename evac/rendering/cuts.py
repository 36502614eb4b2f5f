"""Shutdowns that took longer than their grace, in sentences: the pod's own was too short, or no more was left."""

from collections.abc import Iterator

from evac.rendering.words import clean, folded, plural
from evac.replay.outcome import Replay
from lambdas.domain.values.drains import DrainRecord, PodFate


def cut_sentences(replay: Replay) -> Iterator[str]:
    """One for each reason, with the pods that it is about."""
    told: dict[str, list[PodFate]] = {}
    for record in replay.drains:
        for fate in record.pods:
            if sentence := _why(replay, record, fate):
                told.setdefault(sentence, []).append(fate)
    for sentence, fates in told.items():
        names = " ".join(folded([clean(str(fate.pod)) for fate in fates]))
        yield f"{plural(len(fates), 'pod')}: {sentence}: {names}"


def _why(replay: Replay, record: DrainRecord, fate: PodFate) -> str:
    own, given = replay.own_grace(fate), fate.grace_given
    if fate.pod.uid not in replay.cut_short:
        return ""
    if own is None or given is None:
        return "SIGKILL at the end of a grace that was too short for the shutdown"
    cut = f"SIGKILL at the end of a grace cut to {given.total_seconds():g} s"
    if record.notice.reclaim_at <= record.notice.noticed_at:
        return f"{cut}: the host gives no notice"
    return f"{cut} of {own.total_seconds():g} s: no more was left"
