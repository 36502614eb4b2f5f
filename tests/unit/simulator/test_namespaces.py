"""What a client sees of a namespace where something is forbidden, broken or late; what quotas count there."""

from datetime import timedelta
from typing import Any

import pytest

from evac.simulator import Raw, SimulatedCluster, Simulation
from lambdas.domain.values.actions import ObserveWorkloads
from lambdas.domain.values.answers import Done, Forbidden, Passing
from lambdas.domain.values.observation import Freshness, NamespaceView
from tests.scenes import at
from tests.unit.simulator.releases import ROOM, SPOT, WEB, scale, web
from tests.unit.simulator.stage import ask, simulate

ALL = ObserveWorkloads("default")


def view(port: SimulatedCluster) -> NamespaceView:
    return port.observe().namespaces["default"]


def test_a_kind_that_may_not_be_listed_is_unreadable_and_the_rest_is_seen() -> None:
    simulation = simulate(SPOT, *web())
    simulation.faults.forbidden("list", "networkpolicies")
    port = simulation.cluster()
    assert ask(simulation, ALL, port) == Done()
    policies = view(port).selecting["networkpolicies"]
    assert policies.freshness is Freshness.UNREADABLE
    assert "networkpolicies" in policies.why
    assert view(port).selecting["jobs"].freshness is Freshness.CURRENT


@pytest.mark.parametrize("resource", ["pods", "deployments", "replicasets"])
def test_without_the_pods_and_their_owners_the_answer_says_so(resource: str) -> None:
    simulation = simulate(SPOT, *web())
    simulation.faults.forbidden("list", resource)
    assert isinstance(ask(simulation, ALL), Forbidden)


def test_a_list_that_fails_is_answered_and_the_others_are_taken_in() -> None:
    simulation = simulate(SPOT, *web())
    simulation.faults.failing(every=1, verb="list", resource="resourcequotas")
    port = simulation.cluster()
    assert isinstance(ask(simulation, ALL, port), Passing)
    assert view(port).quotas.freshness is Freshness.PENDING
    assert len(view(port).pods.items) == 3


def test_where_the_watch_is_broken_deployments_are_listed_now_and_then() -> None:
    simulation = simulate(SPOT, *web())
    simulation.faults.watches_broken(resource="deployments")
    port = simulation.cluster()
    assert ask(simulation, ALL, port) == Done()
    assert view(port).deployments.freshness is Freshness.STALE
    scale(simulation, 5)
    simulation.run_for(timedelta(milliseconds=500))
    assert [d.replicas for d in view(port).deployments.items] == [3]
    simulation.run_for(timedelta(seconds=3))
    assert [d.replicas for d in view(port).deployments.items] == [5]


def test_what_was_listed_once_is_not_hurt_by_broken_watches_and_not_kept_current() -> None:
    simulation = simulate(SPOT, *web(), quota(pods="5"))
    simulation.faults.watches_broken(since=at(1))
    port = simulation.cluster()
    assert ask(simulation, ALL, port) == Done()
    simulation.run_until(at(2))
    assert view(port).quotas.freshness is Freshness.CURRENT
    scale(simulation, 4)
    simulation.run_until(at(20))
    assert [q.left for q in view(port).quotas.items] == [{"pods": 2000}]


def quota(scopes: list[str] | None = None, selector: dict[str, Any] | None = None, **hard: str) -> Raw:
    spec: dict[str, Any] = {"hard": hard}
    if scopes:
        spec["scopes"] = scopes
    if selector:
        spec["scopeSelector"] = {"matchExpressions": [{"scopeName": "PriorityClass", **selector}]}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}, "spec": spec}


def is_full(simulation: Simulation) -> bool:
    """Whether no fourth pod is made."""
    scale(simulation, 4)
    simulation.run_for(timedelta(seconds=20))
    return len(list(simulation.list("Pod"))) == 3


@pytest.mark.parametrize(
    ("scopes", "counts"), [(["NotTerminating"], True), (["Terminating"], False), (["BestEffort"], False)]
)
def test_a_quota_counts_what_is_in_its_scopes(scopes: list[str], counts: bool) -> None:
    simulation = simulate(SPOT, ROOM, *web(), quota(scopes, pods="3"))
    assert (simulation.get("ResourceQuota", "default", "q") or {})["status"]["used"] == {"pods": "3" if counts else "0"}
    assert is_full(simulation) is counts


@pytest.mark.parametrize(
    ("selector", "counts"),
    [
        ({"operator": "In", "values": ["high"]}, False),
        ({"operator": "NotIn", "values": ["high"]}, True),
        ({"operator": "Exists"}, False),
        ({"operator": "DoesNotExist"}, True),
    ],
)
def test_a_quota_counts_by_priority_class(selector: dict[str, Any], counts: bool) -> None:
    assert is_full(simulate(SPOT, ROOM, *web(), quota(selector=selector, pods="3"))) is counts


def test_a_deployments_view_is_gone_with_it() -> None:
    simulation = simulate(SPOT, *web())
    port = simulation.cluster()
    assert ask(simulation, ALL, port) == Done()
    simulation.delete(*WEB)
    simulation.run_until(at(1))
    assert view(port).deployments.items == ()
