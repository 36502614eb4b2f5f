"""Which pods may be released from their ReplicaSet: ordered rows, the first that forbids it wins and says why.

A release leaves the pod running and serving while its replacement starts. Law: nothing is released where anything
observed could take the pod for its own, lose it from a Service, or keep its replacement from coming; what cannot be
read counts as forbidding unless the settings say otherwise.
"""

from dataclasses import dataclass
from datetime import timedelta

from lambdas.contract import ANNOTATION_RELEASE, LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.places import Place
from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.observation import NamespaceView
from lambdas.domain.values.releases import labels_once_released, released_hash
from lambdas.domain.values.settings import ReleaseMode, Settings
from lambdas.domain.values.workloads import Autoscaler

_SHORTEST_WINDOW = timedelta(seconds=120)
"""An autoscaler that looks back less far acts on the surplus of a drain (20 → 7 replicas seen)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pod is not released. `is_passing`: for now only, so that it waits like one that is; `leaves_by_budget`: not
    where it has a budget, for what it would wait for may be stuck for good."""

    reason: str
    is_passing: bool = False
    leaves_by_budget: bool = False


def mode_of(workload: Workload, settings: Settings) -> ReleaseMode:
    """The setting, or what the Deployment's own annotation says instead."""
    asked = workload.deployment.annotations.get(ANNOTATION_RELEASE, "")
    return next((mode for mode in ReleaseMode if mode.value == asked), settings.release)


def autoscaler_of(workload: Workload, view: NamespaceView) -> Autoscaler | None:
    """The HorizontalPodAutoscaler of the workload."""
    name = workload.deployment.name
    return next((a for a in view.autoscalers.items if (a.target_kind, a.target_name) == ("Deployment", name)), None)


def most_at_a_time(pod: Pod, workload: Workload, place: Place, settings: Settings) -> int | None:
    """How many pods of the workload may be released and not gone at a time; None where nothing limits it.

    Held surplus makes some autoscalers run away: with one, never more than maxSurge.
    """
    is_bound = mode_of(workload, settings) is ReleaseMode.WITHIN or autoscaler_of(workload, place.view) is not None
    limits = [workload.deployment.max_surge if is_bound else None, place.most_at_a_time(pod)]
    return min((limit for limit in limits if limit is not None), default=None)


def why_not_released(pod: Pod, workload: Workload, place: Place, settings: Settings) -> Refusal | None:
    """None where the pod may be released. Of a pod that is Ready and owned by one of the workload's ReplicaSets."""
    for row in (_by_wish, _by_strategy, _by_its_own):
        if reason := row(pod, workload, settings):
            return Refusal(reason)
    for forbids in (_by_others, _by_volumes, _by_quota):
        if reason := forbids(pod, place):
            return Refusal(reason)
    if reason := _by_autoscaler(workload, place) or _by_ignorance(pod, place, settings):
        return Refusal(reason)
    return _for_now(pod, workload)


def _by_wish(pod: Pod, workload: Workload, settings: Settings) -> str:
    if mode_of(workload, settings) is ReleaseMode.OFF:
        asked = workload.deployment.annotations.get(ANNOTATION_RELEASE)
        return f"the Deployment says {ANNOTATION_RELEASE}: off" if asked == "off" else "release is switched off"
    return f"the pod says {ANNOTATION_RELEASE}: off" if pod.annotations.get(ANNOTATION_RELEASE) == "off" else ""


def _by_strategy(_: Pod, workload: Workload, __: Settings) -> str:
    """The owner's consent to more pods than replicas is a surge of its rolling updates."""
    if not workload.deployment.is_rolling_update:
        return "its Deployment's strategy is Recreate"
    return "" if workload.deployment.max_surge > 0 else "its Deployment's maxSurge is 0"


def _by_its_own(pod: Pod, _: Workload, __: Settings) -> str:
    if pod.is_owned_by_several:
        return "it has several owners"
    if not released_hash(pod.labels.get(LABEL_TEMPLATE_HASH, "")):
        return f"it has no {LABEL_TEMPLATE_HASH} that can be changed"
    if pod.apart_by:
        return f"its required anti-affinity keeps the replacement out of its {pod.apart_by}"
    return f"its spread over {pod.spread_by} would count it and its replacement" if pod.spread_by else ""


def _by_others(pod: Pod, place: Place) -> str:
    """Whoever would adopt the released pod, or see it no more."""
    then = labels_once_released(pod.labels)
    for name, selector in place.adopters():
        if selector.matches(then):
            return f"{name} would adopt it"
    for name, selector in (*place.by_hash, *place.policies()):
        if selector.matches(pod.labels) != selector.matches(then):
            return f"{name} selects by {LABEL_TEMPLATE_HASH}"
    return ""


def _by_volumes(pod: Pod, place: Place) -> str:
    shared = {claim.name for claim in place.view.claims.items if claim.is_shared}
    alone = [name for name in pod.claims if name not in shared]
    return f"its volume {alone[0]} cannot be on two nodes" if alone else ""


def _by_quota(pod: Pod, place: Place) -> str:
    """The ReplicaSet would back off, and stay blocked long after there is room again."""
    owner = pod.owner.uid if pod.owner else ""
    failing = next((r for r in place.view.replica_sets.items if r.uid == owner and r.failure), None)
    if failing:
        return f"its ReplicaSet fails to make pods ({failing.failure})"
    full = place.full_quota(pod)
    return f"ResourceQuota {full}" if full else ""


def _by_autoscaler(workload: Workload, place: Place) -> str:
    autoscaler = autoscaler_of(workload, place.view)
    if autoscaler is None or autoscaler.scale_down_window >= _SHORTEST_WINDOW:
        return ""
    window = autoscaler.scale_down_window.total_seconds()
    return f"HorizontalPodAutoscaler {autoscaler} scales down after {window:.0f} s and would act on the surplus"


def _by_ignorance(pod: Pod, place: Place, settings: Settings) -> str:
    """Kinds that forbid a release in their way, and that we may not read."""
    if settings.releases_unchecked:
        return ""
    view = place.view
    freshness = {name: listing.freshness for name, listing in view.selecting.items()}
    freshness["resourcequotas"] = view.quotas.freshness
    freshness["horizontalpodautoscalers"] = view.autoscalers.freshness
    if pod.claims:
        freshness["persistentvolumeclaims"] = view.claims.freshness
    unread = [*place.unread, *(name for name, how in freshness.items() if not how.is_read)]
    return f"not checked: {', '.join(unread)} could not be read" if unread else ""


def _for_now(pod: Pod, workload: Workload) -> Refusal | None:
    current, owner = workload.current, pod.owner
    if current is None or owner is None or owner.uid != current.uid:
        return Refusal("its ReplicaSet is not the Deployment's current one", is_passing=True, leaves_by_budget=True)
    if workload.deployment.is_being_deleted or current.is_being_deleted:
        return Refusal("its Deployment is being deleted", is_passing=True)
    if current.replicas < workload.owned_by(current):
        return Refusal("its ReplicaSet is scaling down", is_passing=True)
    return None
