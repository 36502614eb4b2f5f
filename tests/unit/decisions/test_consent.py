"""Who may be released: a table, one row a reason. Everything else about the pod, its workload and its place is well."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lambdas.contract import ANNOTATION_RELEASE, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.consent import most_at_a_time, why_not_released
from lambdas.domain.decisions.places import Place
from lambdas.domain.decisions.surroundings import Workload
from lambdas.domain.values.kubernetes import Owner, Pod
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.settings import ReleaseMode, Settings
from lambdas.domain.values.workloads import Autoscaler, Claim, Deployment, Quota, ReplicaSet, Selecting
from tests.unit.builders import pod

HASH = "5d4f8c7b9"
LABELS = {"app": "web", LABEL_TEMPLATE_HASH: HASH}
OWNER = Owner("Deployment", "web", "d-1", "apps/v1")
DEPLOYMENT = Deployment("default", "web", "d-1", replicas=4, max_surge=1, revision="2")
CURRENT = ReplicaSet("default", f"web-{HASH}", "rs-1", Selector.from_labels(LABELS), OWNER, 4, "2")
WORKLOAD = Workload(DEPLOYMENT, (CURRENT,))
OURS = Owner("ReplicaSet", f"web-{HASH}", "rs-1", "apps/v1")
READ: dict[str, Any] = {"freshness": Freshness.CURRENT}
KINDS = ("daemonsets", "jobs", "replicationcontrollers", "networkpolicies")


def its_pod(**fields: Any) -> Pod:
    """A pod of the workload's current ReplicaSet."""
    return replace(pod(labels=LABELS, **fields), owner=OURS)


def view(**parts: Any) -> NamespaceView:
    """A namespace of which everything was read, and that holds the workload alone unless `parts` says more."""
    whole: dict[str, Any] = {
        "deployments": Listing((DEPLOYMENT,), **READ),
        "replica_sets": Listing((CURRENT,), **READ),
        "selecting": {kind: Listing((), **READ) for kind in KINDS},
        "quotas": Listing((), **READ),
        "autoscalers": Listing((), **READ),
        "claims": Listing((), **READ),
    }
    return NamespaceView(**{**whole, **parts})


def selecting(kind: str, resource: str, labels: dict[str, str], *, adopts: bool = True) -> NamespaceView:
    """A namespace with something else that selects pods."""
    made = Selecting(kind, "default", "other", "o-1", Selector.from_labels(labels), adopts)
    return view(selecting={k: Listing((made,) if k == resource else (), **READ) for k in KINDS})


def reason(
    of: Pod | None = None,
    workload: Workload = WORKLOAD,
    place: Place | None = None,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
) -> str:
    """Why not; empty where it may be."""
    refusal = why_not_released(of or its_pod(), workload, place or Place(view()), settings)
    return refusal.reason if refusal else ""


def changed(**fields: Any) -> Workload:
    """The workload with another Deployment spec."""
    return replace(WORKLOAD, deployment=replace(DEPLOYMENT, **fields))


def test_a_ready_pod_of_a_rolling_deployments_current_replica_set_may_be_released() -> None:
    assert reason() == ""


OTHER_REPLICA_SET = ReplicaSet("default", "bare", "rs-9", Selector.from_labels({"app": "web"}))
FULL = Quota("default", "full", {"pods": 0})
FOREIGN = Quota("default", "vip", {"pods": 0}, frozenset({"vip"}))


@pytest.mark.parametrize(
    ("expected", "case"),
    [
        ("release is switched off", lambda: reason(settings=Settings(release=ReleaseMode.OFF))),
        (
            f"the Deployment says {ANNOTATION_RELEASE}: off",
            lambda: reason(workload=changed(annotations={ANNOTATION_RELEASE: "off"})),
        ),
        (
            f"the pod says {ANNOTATION_RELEASE}: off",
            lambda: reason(its_pod(annotations={ANNOTATION_RELEASE: "off"})),
        ),
        ("strategy is Recreate", lambda: reason(workload=changed(is_rolling_update=False, max_surge=0))),
        ("maxSurge is 0", lambda: reason(workload=changed(max_surge=0))),
        ("several owners", lambda: reason(replace(its_pod(), is_owned_by_several=True))),
        ("no pod-template-hash", lambda: reason(replace(its_pod(), labels={"app": "web"}))),
        (
            "no pod-template-hash that can be changed",
            lambda: reason(replace(its_pod(), labels={LABEL_TEMPLATE_HASH: "x" * 60})),
        ),
        ("out of its zone", lambda: reason(replace(its_pod(), apart_by="zone"))),
        ("spread over zone", lambda: reason(replace(its_pod(), spread_by="zone"))),
        (
            "ReplicaSet default/bare would adopt it",
            lambda: reason(place=Place(view(replica_sets=Listing((CURRENT, OTHER_REPLICA_SET), **READ)))),
        ),
        (
            "DaemonSet default/other would adopt it",
            lambda: reason(place=Place(selecting("DaemonSet", "daemonsets", {"app": "web"}))),
        ),
        ("Job default/other would adopt it", lambda: reason(place=Place(selecting("Job", "jobs", {"app": "web"})))),
        (
            "ReplicationController default/other would adopt it",
            lambda: reason(
                place=Place(selecting("ReplicationController", "replicationcontrollers", {LABEL_RELEASED: "true"}))
            ),
        ),
        (
            "NetworkPolicy default/other selects by",
            lambda: reason(place=Place(selecting("NetworkPolicy", "networkpolicies", LABELS, adopts=False))),
        ),
        (
            "Service default/x selects by",
            lambda: reason(place=Place(view(), by_hash=[("Service default/x", Selector.from_labels(LABELS))])),
        ),
        ("volume data cannot be on two nodes", lambda: reason(its_pod(claims=("data",)))),
        (
            "its ReplicaSet fails to make pods (quota)",
            lambda: reason(place=Place(view(replica_sets=Listing((replace(CURRENT, failure="quota"),), **READ)))),
        ),
        (
            "ResourceQuota default/full has no room",
            lambda: reason(its_pod(cost={"pods": 1000}), place=Place(view(quotas=Listing((FULL,), **READ)))),
        ),
        (
            "scales down after 0 s",
            lambda: reason(
                place=Place(
                    view(
                        autoscalers=Listing((Autoscaler("default", "web", "Deployment", "web", timedelta(0)),), **READ)
                    )
                )
            ),
        ),
        (
            "not checked: jobs could not be read",
            lambda: reason(
                place=Place(view(selecting={**view().selecting, "jobs": Listing((), Freshness.UNREADABLE, "403")}))
            ),
        ),
        ("not checked: services", lambda: reason(place=Place(view(), unread=["services"]))),
        (
            "not checked: persistentvolumeclaims",
            lambda: reason(
                its_pod(claims=("data",)),
                place=Place(view(claims=Listing((Claim("default", "data", is_shared=True),), Freshness.PENDING))),
            ),
        ),
    ],
)
def test_what_forbids_a_release_says_why(expected: str, case: Callable[[], str]) -> None:
    assert expected in case()


@pytest.mark.parametrize(
    "case",
    [
        lambda: reason(
            its_pod(claims=("data",)), place=Place(view(claims=Listing((Claim("default", "data", True),), **READ)))
        ),
        lambda: reason(its_pod(cost={"pods": 1000}), place=Place(view(quotas=Listing((FOREIGN,), **READ)))),
        lambda: reason(
            place=Place(view(autoscalers=Listing((Autoscaler("default", "web", "Deployment", "web"),), **READ)))
        ),
        lambda: reason(place=Place(selecting("DaemonSet", "daemonsets", {"app": "other"}))),
        lambda: reason(place=Place(selecting("DaemonSet", "daemonsets", LABELS))),
        lambda: reason(place=Place(selecting("NetworkPolicy", "networkpolicies", {"app": "web"}, adopts=False))),
        lambda: reason(place=Place(view(), unread=["services"]), settings=Settings(releases_unchecked=True)),
        lambda: reason(
            workload=changed(annotations={ANNOTATION_RELEASE: "enough"}), settings=Settings(release=ReleaseMode.OFF)
        ),
        lambda: reason(workload=changed(annotations={ANNOTATION_RELEASE: "nonsense"})),
    ],
)
def test_what_only_looks_like_it_does_not(case: Callable[[], str]) -> None:
    assert case() == ""


@pytest.mark.parametrize(
    ("expected", "workload"),
    [
        ("not the Deployment's current one", replace(WORKLOAD, replica_sets=(replace(CURRENT, uid="rs-2"),))),
        ("is being deleted", changed(is_being_deleted=True)),
        (
            "scaling down",
            replace(WORKLOAD, replica_sets=(replace(CURRENT, replicas=0),), owned=(its_pod(),)),
        ),
    ],
)
def test_what_forbids_it_for_now_only_keeps_the_pod_waiting_like_the_others(expected: str, workload: Workload) -> None:
    refusal = why_not_released(its_pod(), workload, Place(view()), Settings())
    assert refusal
    assert refusal.is_passing
    assert expected in refusal.reason


def test_a_quota_limits_how_many_may_be_doubled_at_a_time() -> None:
    place = Place(view(quotas=Listing((Quota("default", "q", {"pods": 2000}), FOREIGN), **READ)))
    one = its_pod(cost={"pods": 1000})
    assert reason(one, place=place) == ""
    assert most_at_a_time(one, WORKLOAD, place, Settings()) == 2
    for _ in range(2):
        assert place.has_room_for(one)
        place.charge(one)
    assert not place.has_room_for(one)


@pytest.mark.parametrize(
    ("settings", "autoscalers", "most"),
    [
        (Settings(), (), None),
        (Settings(release=ReleaseMode.WITHIN), (), 1),
        (Settings(release=ReleaseMode.ALL), (Autoscaler("default", "web", "Deployment", "web"),), 1),
    ],
)
def test_what_else_limits_it(settings: Settings, autoscalers: tuple[Autoscaler, ...], most: int | None) -> None:
    place = Place(view(autoscalers=Listing(autoscalers, **READ)))
    assert most_at_a_time(its_pod(), WORKLOAD, place, settings) == most
