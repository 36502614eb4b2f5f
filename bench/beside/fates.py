"""What became of each pod on the interrupted nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.beside.facts import Fact, PodGone, PodSeen

RECLAIM = 120.0
"""Seconds from the notice until the host is taken."""


@dataclass(slots=True)
class Fate:
    """One pod's; seconds from the notice, None where it did not happen. `grace_given`: with its SIGTERM, in seconds."""

    pod: PodSeen
    grace_given: float = 0.0
    signalled: float | None = None
    gone: float | None = None

    @property
    def is_killed(self) -> bool:
        """Still there when the host was taken."""
        return self.gone is None or self.gone > RECLAIM

    @property
    def is_cut_short(self) -> bool:
        """Gone in time, but with less than it needed of what it may have; also when it had no SIGTERM at all."""
        enough = min(self.pod.shutdown, self.pod.grace)
        return not self.is_killed and (self.signalled is None or self.grace_given < enough)

    @property
    def is_graceful(self) -> bool:
        """It had the time for its whole shutdown, and was gone before the host."""
        return not self.is_killed and not self.is_cut_short

    @property
    def is_too_late(self) -> bool:
        """It had its SIGTERM, and not the time for its own shutdown."""
        return (self.is_killed and self.signalled is not None) or self.is_cut_short

    def see_leaving(self, pod: PodSeen, when: float) -> None:
        """It is on its way out. A grace of 0 after another is the kubelet's word that it is done."""
        if self.signalled is None:
            self.signalled, self.grace_given = when, pod.grace_given
        elif pod.grace_given:
            self.grace_given = min(self.grace_given, pod.grace_given)


def fates(facts: Iterable[Fact], noticed_at: float, nodes: Sequence[str]) -> list[Fate]:
    """Of every pod that was on those nodes between the notice and the reclaim."""
    found: dict[str, Fate] = {}
    for fact in facts:
        when = fact.at - noticed_at
        match fact:
            case PodSeen() if fact.uid in found or (fact.node in nodes and when <= RECLAIM):
                fate = found.setdefault(fact.uid, Fate(fact))
                if fact.is_leaving and when <= RECLAIM:
                    fate.see_leaving(fact, when)
            case PodGone() if fact.uid in found:
                found[fact.uid].gone = when
    return [fate for fate in found.values() if fate.gone is None or fate.gone >= 0]
