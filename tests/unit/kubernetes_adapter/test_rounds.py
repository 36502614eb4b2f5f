"""Hundreds of namespaces: what is watched is bounded, the rest is listed in turn and says so."""

import threading
from collections import Counter
from datetime import timedelta

import pytest

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import rounds
from lambdas.adapters.kubernetes.cluster import KubernetesCluster
from lambdas.domain.values.actions import ObserveWorkloads
from lambdas.domain.values.observation import Freshness
from tests.unit.kubernetes_adapter.scripted import Server

CLOCK = SystemClock()


def observed(cluster: KubernetesCluster, namespaces: int) -> int:
    """How many of them were answered."""
    for i in range(namespaces):
        cluster.start(ObserveWorkloads(f"team-{i}"))
    answers, until = 0, CLOCK.now() + timedelta(seconds=60)
    while answers < namespaces and CLOCK.now() < until:
        answers += len(cluster.wait(until))
    return answers


def test_pods_of_hundreds_of_namespaces_leave_threads_for_their_evictions() -> None:
    before = threading.active_count()
    cluster = KubernetesCluster(Server(), CLOCK)
    try:
        assert observed(cluster, 340) == 340
        assert threading.active_count() - before < 250
        views = cluster.observe().namespaces
    finally:
        cluster.close()
    how = [view.pods.freshness for view in views.values()]
    assert how.count(Freshness.CURRENT) <= 40
    assert set(how) == {Freshness.CURRENT, Freshness.STALE}
    assert {view.pods.why for view in views.values() if view.pods.freshness is Freshness.STALE} == {rounds.WHY}


def test_what_is_not_watched_is_listed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_PAUSE", 0.05)
    server = Server()
    cluster = KubernetesCluster(server, CLOCK)
    try:
        assert observed(cluster, 42) == 42
        until = CLOCK.now() + timedelta(seconds=20)
        while CLOCK.now() < until and _most_lists(server) < 3:
            cluster.wait(CLOCK.now() + timedelta(seconds=0.1))
        assert _most_lists(server) >= 3
    finally:
        cluster.close()
    assert not [t for t in threading.enumerate() if t.name == "evac-rounds"]


def _most_lists(server: Server) -> int:
    """How often the Deployments of one namespace were listed, at most."""
    paths = (call.path for call in list(server.asked) if (call.verb, call.resource) == ("list", "deployments.apps"))
    return max(Counter(paths).values(), default=0)
