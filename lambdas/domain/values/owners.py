"""The workload that a pod belongs to, as people call it."""

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.values.kubernetes import Pod


def workload_of(pod: Pod) -> tuple[str, str]:
    """Kind and name: of the Deployment where the pod's own words tell it, else of its controller; empty for neither.

    A Deployment names its ReplicaSets after itself and the template's hash, with which it labels their pods too.
    """
    if pod.owner is None:
        return ("Deployment", pod.released.deployment) if pod.released else ("", "")
    ending = f"-{pod.labels.get(LABEL_TEMPLATE_HASH, '')}"
    if pod.owner.kind == "ReplicaSet" and len(ending) > 1 and pod.owner.name.endswith(ending):
        return "Deployment", pod.owner.name.removesuffix(ending)
    return pod.owner.kind, pod.owner.name


def workload_named(pod: Pod) -> str:
    """The same in one: "Deployment shop/checkout"; empty for a pod of nobody."""
    kind, name = workload_of(pod)
    return f"{kind} {pod.ref.namespace}/{name}" if kind else ""
