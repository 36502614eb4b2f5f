"""Giving pods that were released back to their ReplicaSets, which then have more than they want and choose themselves.

Law: only pods that carry our label are touched, and a ReplicaSet has chosen before the deletion cost is restored: until
then the old pod is the one to go where its replacement is Ready.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lambdas.application.asking import ask
from lambdas.application.ports import Clock, Cluster
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.decisions.sweeping import judge_pod
from lambdas.domain.values.actions import ListReleased, ObserveWorkloads, OfPod, TidyUp
from lambdas.domain.values.answers import Absent, Done, Result
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.observation import NamespaceView
from lambdas.domain.values.releases import RELEASED, RETURNED

_CHOOSING: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Returned:
    """One released pod: what was done, None where nothing was to be done, and how it was answered."""

    pod: Pod
    action: OfPod | None
    result: Result | None

    @property
    def is_served(self) -> bool:
        """Whether it is released no longer."""
        return self.action is None or isinstance(self.result, Done | Absent)


def find_released(cluster: Cluster, clock: Clock) -> Result | None:
    """Every pod that carries our label (`Found`), or why that is not known."""
    [result] = ask(cluster, clock, [ListReleased()])
    return result


def is_released(pod: Pod) -> bool:
    """Whether it is without its ReplicaSet now, and there to stay."""
    return pod.labels.get(LABEL_RELEASED) == RELEASED and pod.deletion is None


def take_back(cluster: Cluster, clock: Clock, pods: Sequence[Pod]) -> list[Returned]:
    """Each pod goes back; one whose ReplicaSet is no more is deleted, since nobody would ever take it."""
    _observe(cluster, clock, pods)
    judged = [(pod, _judge(pod, cluster.observe().namespaces, clock.now())) for pod in pods]
    asked = [(pod, action) for pod, action in judged if action is not None]
    results = ask(cluster, clock, [action for _, action in asked])
    done = [Returned(pod, action, result) for (pod, action), result in zip(asked, results, strict=True)]
    return done + [Returned(pod, None, None) for pod, action in judged if action is None]


def tidy_up(cluster: Cluster, clock: Clock, pods: Sequence[Pod]) -> int:
    """Wait until ReplicaSets have chosen whom to keep, and take the last marks off those; how many still have them."""
    _observe(cluster, clock, pods)
    until = clock.now() + _CHOOSING
    tidied: set[str] = set()
    while left := [pod for pod in _returned(cluster, pods) if pod.ref.uid not in tidied]:
        now = clock.now()
        if now >= until:
            break
        judged = [action for pod in left if (action := _judge(pod, cluster.observe().namespaces, now))]
        actions = [action for action in judged if isinstance(action, TidyUp)]
        if actions:
            results = ask(cluster, clock, actions)
            tidied |= {
                a.pod.uid for a, result in zip(actions, results, strict=True) if isinstance(result, Done | Absent)
            }
        else:
            cluster.wait(until)
    return len(left)


def _observe(cluster: Cluster, clock: Clock, pods: Sequence[Pod]) -> None:
    known = cluster.observe().namespaces
    names = sorted({pod.ref.namespace for pod in pods} - set(known))
    ask(cluster, clock, [ObserveWorkloads(name) for name in names])


def _judge(pod: Pod, namespaces: Mapping[str, NamespaceView], now: datetime) -> OfPod | None:
    return judge_pod(pod, {}, namespaces.get(pod.ref.namespace), now)


def _returned(cluster: Cluster, pods: Sequence[Pod]) -> list[Pod]:
    """Those of the pods that are back, or soon will be seen to be, and stay; one that cannot be seen may be."""
    namespaces = cluster.observe().namespaces
    left = []
    for pod in pods:
        view = namespaces.get(pod.ref.namespace)
        if view is None or not view.pods.freshness.is_read:
            left.append(pod)
        else:
            left += [p for p in view.pods.items if p.ref == pod.ref and p.deletion is None and _is_marked(p)]
    return left


def _is_marked(pod: Pod) -> bool:
    return pod.labels.get(LABEL_RELEASED) in {RELEASED, RETURNED}
