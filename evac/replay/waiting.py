"""Who is waited for, and why: told where nothing else has been told for a while, and asked when a drain is broken off.

Law: it only reads what the drain has observed and told; no request is made for it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evac.rendering.words import clean, folded, plural
from evac.replay.recording import Recorder
from evac.replay.story import Line
from lambdas.application.ports import Clock, Cluster
from lambdas.domain.decisions.filters import Verdict, judge
from lambdas.domain.values.actions import Action
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.observation import Observation

WAITING: Final = "waiting"
"""What a line says that no drain reports: these pods are still there."""

_QUIET: Final = timedelta(seconds=20)


class Watched:
    """A `Cluster` that tells the recorder, between two steps of the drain, who is waited for."""

    def __init__(self, cluster: Cluster, clock: Clock, recorder: Recorder, node_names: Sequence[str]) -> None:
        self._cluster = cluster
        self._clock = clock
        self._recorder = recorder
        self._node_names = node_names

    def start(self, action: Action) -> None:
        """As the cluster does."""
        self._cluster.start(action)

    def wait(self, until: datetime) -> Sequence[Answer]:
        """As the cluster does; before that, what there is to tell."""
        self._tell_when_quiet(self._clock.now())
        return self._cluster.wait(until)

    def observe(self) -> Observation:
        """As the cluster does."""
        return self._cluster.observe()

    def wake(self) -> None:
        """As the cluster does."""
        self._cluster.wake()

    def close(self) -> None:
        """As the cluster does."""
        self._cluster.close()

    def _tell_when_quiet(self, now: datetime) -> None:
        lines = self._recorder.lines
        if not lines or now < lines[-1].at + _QUIET:
            return
        told = [Line(now, WAITING, name, name, f"for {who}") for name in self._node_names if (who := self.who(name))]
        self._recorder.add(told)

    def who(self, node_name: str) -> str:
        """The pods that are still to leave the node, by what each waits for; empty where there is none, or no list."""
        view = self._cluster.observe().nodes.get(node_name)
        reasons: dict[str, list[str]] = {}
        for pod in view.pods if view else ():
            if judge(pod).verdict is not Verdict.SKIP:
                reasons.setdefault(self._why(pod, node_name), []).append(str(pod.ref))
        count = sum(map(len, reasons.values()))
        each = "; ".join(f"{' '.join(folded(names))}: {clean(why)}" for why, names in reasons.items())
        return f"{plural(count, 'pod')}: {each}" if count else ""

    def _why(self, pod: Pod, node_name: str) -> str:
        """What was told of it last."""
        if pod.deletion is not None:
            return "shutting down"
        ref = str(pod.ref)
        for line in reversed(self._recorder.lines):
            if line.subject == ref and line.node_name == node_name and line.what == Happening.HELD.value:
                return line.detail
        return "released, until its replacement is Ready" if pod.released else "not asked to leave yet"
