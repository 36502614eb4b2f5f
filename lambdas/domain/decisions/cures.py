"""What is broken and what to do next, for a tired person at 3 a.m."""

from lambdas.contract import KUBERNETES_GROUP, RELEASE_GUARD
from lambdas.domain.values.actions import (
    Action,
    Announce,
    CheckGuard,
    Cordon,
    Delete,
    Evict,
    ExcludeFromLoadBalancers,
    ListMarked,
    ListReleased,
    Locate,
    Observe,
    ObserveWorkloads,
    OfNode,
    OfPod,
    Release,
    Restore,
    TakeBack,
    TidyUp,
    Wake,
)
from lambdas.domain.values.answers import (
    Forbidden,
    Passing,
    Refused,
    Result,
    SeveralBudgets,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.drains import Problem, Trouble


def problem_of(result: Result, what: str) -> Problem | None:
    """The problem that an answer shows, or None where it is an ordinary one. `what`: what was asked, in words."""
    match result:
        case Unauthenticated(message):
            return Problem(
                Trouble.UNAUTHENTICATED,
                f"{what}: the API server does not know us (401: {message}). Is there an EKS access entry (or aws-auth "
                f"line) for the function's role, with the group {KUBERNETES_GROUP}?",
            )
        case Forbidden(message):
            return Problem(
                Trouble.FORBIDDEN,
                f"{what}: 403: {message}. If RBAC: `evac rbac | kubectl apply -f -`; else an admission policy.",
            )
        case Refused(message):
            return Problem(Trouble.API, f"{what}: refused ({message}). A webhook or admission policy may be why.")
        case SeveralBudgets(message):
            return Problem(
                Trouble.BUDGET, f"{what}: {message}. The eviction API cannot decide; give each pod one budget."
            )
        case Throttled():
            return Problem(Trouble.API, f"{what}: throttled by API priority and fairness (429)")
        case Passing(message) | Unknown(message):
            return Problem(Trouble.API, f"{what}: {message}")
        case _:
            return None


def doing(action: Action) -> str:
    """What was asked, in words."""
    match action:
        case Locate(instance_id):
            return f"finding the node of {instance_id}"
        case ObserveWorkloads(namespace):
            return f"listing the workloads of namespace {namespace}"
        case CheckGuard():
            return f"reading the ValidatingAdmissionPolicy {RELEASE_GUARD}"
        case ListReleased():
            return "listing released pods"
        case ListMarked():
            return "listing nodes that carry our mark"
        case Observe() | Cordon() | ExcludeFromLoadBalancers() | Restore() | Announce():
            return _doing_to_a_node(action)
        case _:
            return _doing_to_a_pod(action)


def _doing_to_a_node(action: OfNode) -> str:
    match action:
        case Observe(node_name):
            return f"listing node {node_name} and its pods"
        case Cordon(node_name):
            return f"cordoning node {node_name}"
        case ExcludeFromLoadBalancers(node_name):
            return f"taking node {node_name} out of load balancers"
        case Restore(node_name):
            return f"taking our marks off node {node_name}"
        case Announce(node_name, involved=pod):
            return f"writing an Event on pod {pod}" if pod else f"writing an Event on node {node_name}"


def _doing_to_a_pod(action: OfPod) -> str:
    match action:
        case Evict(pod):
            return f"evicting {pod}"
        case Delete(pod):
            return f"deleting {pod}"
        case Release(pod):
            return f"releasing {pod}"
        case TakeBack(pod):
            return f"giving {pod} back to its ReplicaSet"
        case TidyUp(pod):
            return f"taking the last marks off {pod}"
        case Wake(pod):
            return f"touching {pod}"
