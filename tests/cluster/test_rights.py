"""The shipped ClusterRole is enough, and nothing in it is too much."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from controlplane import Api, ControlPlane
from evac.rbac import rights
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
    Restore,
    TakeBack,
    Wake,
)
from lambdas.domain.values.answers import Done, Forbidden, Found, Located, Unauthenticated
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.observation import Freshness, Listing, NodeView, Observation
from tests.cluster.rig import CLOCK, Tokens, ask, connected, grant, mark_of, running, watch_until
from tests.scenes import instance_id

pytestmark = pytest.mark.cluster

GRACE = timedelta(seconds=1)
BY_NAME = Locate(instance_id("spot-a"), ("spot-a",))
BY_LISTING = Locate(instance_id("spot-a"))
WORKLOADS = ObserveWorkloads("default")

ASKED: Mapping[tuple[str, str], Callable[[PodRef], Action]] = {
    ("nodes", "get"): lambda _: BY_NAME,
    ("nodes", "list"): lambda _: BY_LISTING,
    ("nodes", "patch"): lambda _: Cordon("spot-a", mark_of("spot-a")),
    ("pods", "get"): TakeBack,
    ("pods", "list"): lambda _: Observe("spot-a"),
    ("pods", "patch"): lambda pod: Wake(pod, CLOCK.now()),
    ("pods", "delete"): lambda pod: Delete(pod, GRACE),
    ("pods/eviction", "create"): lambda pod: Evict(pod, GRACE),
    ("events", "create"): lambda _: Announce("spot-a", "uid", "Test", "a test"),
    ("deployments", "list"): lambda _: WORKLOADS,
    ("replicasets", "list"): lambda _: WORKLOADS,
    ("validatingadmissionpolicies", "get"): lambda _: CheckGuard(),
    ("validatingadmissionpolicybindings", "get"): lambda _: CheckGuard(),
}
"""The action that answers Forbidden without this right."""

SEEN: Mapping[tuple[str, str], tuple[Callable[[Observation], Listing[Any] | NodeView], Freshness]] = {
    ("nodes", "watch"): (lambda o: o.nodes["spot-a"], Freshness.STALE),
    ("pods", "watch"): (lambda o: o.nodes["spot-a"], Freshness.STALE),
    ("poddisruptionbudgets", "list"): (lambda o: o.budgets, Freshness.UNREADABLE),
    ("poddisruptionbudgets", "watch"): (lambda o: o.budgets, Freshness.STALE),
    ("services", "list"): (lambda o: o.services, Freshness.UNREADABLE),
    ("services", "watch"): (lambda o: o.services, Freshness.STALE),
    ("deployments", "watch"): (lambda o: o.namespaces["default"].deployments, Freshness.STALE),
    ("replicasets", "watch"): (lambda o: o.namespaces["default"].replica_sets, Freshness.STALE),
    ("daemonsets", "list"): (lambda o: o.namespaces["default"].selecting["daemonsets"], Freshness.UNREADABLE),
    ("jobs", "list"): (lambda o: o.namespaces["default"].selecting["jobs"], Freshness.UNREADABLE),
    ("replicationcontrollers", "list"): (
        lambda o: o.namespaces["default"].selecting["replicationcontrollers"],
        Freshness.UNREADABLE,
    ),
    ("networkpolicies", "list"): (
        lambda o: o.namespaces["default"].selecting["networkpolicies"],
        Freshness.UNREADABLE,
    ),
    ("resourcequotas", "list"): (lambda o: o.namespaces["default"].quotas, Freshness.UNREADABLE),
    ("horizontalpodautoscalers", "list"): (lambda o: o.namespaces["default"].autoscalers, Freshness.UNREADABLE),
    ("persistentvolumeclaims", "list"): (lambda o: o.namespaces["default"].claims, Freshness.UNREADABLE),
}
"""Where the observation says that this right is missing, and how far it may then be believed."""


def test_every_right_has_somebody_who_would_miss_it() -> None:
    assert {(right.resource, right.verb) for right in rights()} == ASKED.keys() | SEEN.keys()


def test_with_the_shipped_role_everything_is_answered(plane: ControlPlane, api: Api) -> None:
    grant(api)
    one, two = running(api, "one", "spot-a"), running(api, "two", "spot-a")
    actions: list[Action] = [Cordon("spot-a", mark_of("spot-a")), Observe("spot-a"), Evict(one, GRACE)]
    actions += [Delete(two, GRACE), Announce("spot-a", "uid", "Test", "a test")]
    with connected(plane, prefetch=True) as cluster:
        located = ask(cluster, BY_NAME, BY_LISTING)
        assert [type(result) for result in located] == [Located] * 2
        assert ask(cluster, *actions) == [Done()] * 5
        assert ask(cluster, ExcludeFromLoadBalancers("spot-a")) == [Done()]
        watch_until(cluster, lambda o: not o.nodes["spot-a"].pods)
        assert ask(cluster, Restore("spot-a")) == [Done()]
        assert ask(cluster, WORKLOADS, CheckGuard(), ListReleased(), ListMarked()) == [Done(), Done(), Found(), Found()]
        seen = cluster.observe()
    assert {where(seen).freshness for where, _ in SEEN.values()} == {Freshness.CURRENT}
    assert {where(seen).why for where, _ in SEEN.values()} == {""}


@pytest.mark.parametrize("right", ASKED, ids=" ".join)
def test_without_a_right_the_answer_names_it(right: tuple[str, str], plane: ControlPlane, api: Api) -> None:
    resource, verb = right
    grant(api, without=right)
    pod = running(api, "web", "spot-a")
    with connected(plane) as cluster:
        results = api.until(lambda: forbidden(ask(cluster, ASKED[right](pod))), what=f"{verb} {resource} refused")
    assert results.startswith(f"may not {verb} {resource}")
    assert f'cannot {verb} resource "{resource}"' in results


def forbidden(results: Sequence[object]) -> str:
    """The message of the one answer, if it is Forbidden; a role takes a moment to be known."""
    return results[0].message if isinstance(results[0], Forbidden) else ""


@pytest.mark.parametrize("right", SEEN, ids=" ".join)
def test_without_a_right_the_observation_names_it(right: tuple[str, str], plane: ControlPlane, api: Api) -> None:
    resource, verb = right
    where, expected = SEEN[right]
    grant(api, without=right)
    pod = running(api, "web", "spot-a")
    with connected(plane) as cluster:
        assert ask(cluster, Observe("spot-a"), WORKLOADS) == [Done()] * 2
        why = watch_until(cluster, lambda o: where(o).why)
        seen = cluster.observe()
    assert why.startswith(f"may not {verb} {resource}")
    assert f'cannot {verb} resource "{resource}"' in why
    assert where(seen).freshness is expected
    assert [p.ref for p in seen.nodes["spot-a"].pods] == [pod]


def test_what_may_not_be_watched_is_listed_now_and_then(plane: ControlPlane, api: Api) -> None:
    grant(api, without=("pods", "watch"))
    running(api, "web", "spot-a")
    with connected(plane) as cluster:
        ask(cluster, Observe("spot-a"))
        watch_until(cluster, lambda o: o.nodes["spot-a"].why)
        first = cluster.observe().nodes["spot-a"].listed_at
        api.delete("/api/v1/namespaces/default/pods/web", {"gracePeriodSeconds": 0})
        watch_until(cluster, lambda o: not o.nodes["spot-a"].pods)
        assert cluster.observe().nodes["spot-a"].listed_at > first


def test_a_right_that_is_granted_later_is_found(plane: ControlPlane, api: Api) -> None:
    grant(api, without=("poddisruptionbudgets", "list"))
    with connected(plane, prefetch=True) as cluster:
        watch_until(cluster, lambda o: o.budgets.freshness is Freshness.UNREADABLE)
        grant(api)
        watch_until(cluster, lambda o: o.budgets.freshness is Freshness.CURRENT and not o.budgets.why)


def test_nobody_known_is_told_so_after_one_renewal(plane: ControlPlane, api: Api) -> None:
    tokens = Tokens("unknown")
    with connected(plane, tokens=tokens) as cluster:
        result = ask(cluster, BY_NAME)[0]
    assert result == Unauthenticated("Unauthorized")
    assert tokens.renewals == 1


def test_a_token_that_has_run_out_is_renewed_once(plane: ControlPlane, api: Api) -> None:
    grant(api)
    running(api, "web", "spot-a")
    tokens = Tokens("too old", plane.token("handler"))
    with connected(plane, tokens=tokens, prefetch=True) as cluster:
        results = ask(cluster, BY_NAME, BY_LISTING, Observe("spot-a"))
        watch_until(cluster, lambda o: o.budgets.freshness is Freshness.CURRENT)
    assert [type(result) for result in results] == [Located, Located, Done]
    assert tokens.renewals == 1
