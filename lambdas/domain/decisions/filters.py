"""Which pods leave at all: ordered filters, the first verdict wins and carries its reason."""

from dataclasses import dataclass
from enum import Enum, auto

from lambdas.contract import ANNOTATION_LET_FINISH
from lambdas.domain.values.kubernetes import Pod

_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})


class Verdict(Enum):
    """What a filter says of a pod."""

    SKIP = auto()
    AWAIT = auto()
    DRAIN = auto()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason."""

    verdict: Verdict
    reason: str = ""


def judge(pod: Pod) -> Judgement:
    """Whether the pod is drained. Bare pods and emptyDir are: on a host that dies anyway they cannot be kept."""
    if pod.phase in ("Succeeded", "Failed"):
        return Judgement(Verdict.SKIP, f"finished ({pod.phase})")
    if pod.is_mirror or (pod.owner and pod.owner.kind == "Node"):
        return Judgement(Verdict.SKIP, "static pod: the kubelet's own, the API cannot evict it")
    if pod.owner and pod.owner.kind == "DaemonSet":
        return Judgement(Verdict.SKIP, "DaemonSet pod: its controller would put it straight back")
    if pod.deletion:
        return Judgement(Verdict.AWAIT, "already terminating")
    return Judgement(Verdict.DRAIN)


def is_critical(pod: Pod) -> bool:
    """Pods that others need to shut down cleanly (DNS, the network): they go when the others are gone."""
    return pod.priority_class in _CRITICAL


def why_let_finish(pod: Pod) -> str:
    """Why the pod is better left running until its last safe moment; empty where it is not."""
    if pod.owner and pod.owner.kind == "Job":
        return "a Job's pod may finish by itself"
    for key, value in _WISHES:
        if _said(pod, key) == value:
            return f"{key}: {value}"
    return ""


def _said(pod: Pod, key: str) -> str | None:
    """What its people wrote: a release of ours writes do-not-disrupt too, which is no wish to finish."""
    if pod.released and key in pod.released.former:
        return pod.released.former[key]
    return pod.annotations.get(key)


_WISHES = (
    ("karpenter.sh/do-not-disrupt", "true"),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
    (ANNOTATION_LET_FINISH, "true"),
)
