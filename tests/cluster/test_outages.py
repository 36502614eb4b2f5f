"""The API server goes away, hangs, comes back; connections break: what the adapter answers and goes on seeing."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from controlplane import Api, ControlPlane
from lambdas.adapters.kubernetes import KubernetesCluster
from lambdas.domain.values.actions import Cordon, Evict, Locate, Observe
from lambdas.domain.values.answers import Absent, Done, Located, Passing, Unknown
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.observation import Freshness, Observation
from tests.cluster.between import Between
from tests.cluster.provocations import NOBODYS
from tests.cluster.rig import CLOCK, ask, collect, connected, grant, mark_of, running, watch_until
from tests.scenes import instance_id, node

pytestmark = pytest.mark.cluster

GRACE = timedelta(seconds=1)
BY_NAME = Locate(instance_id("spot-a"), ("spot-a",))


@pytest.fixture
def between(plane: ControlPlane, api: Api) -> Iterator[Between]:
    """A stretch of network, and the function's rights at its end; one node."""
    grant(api)
    api.apply(node("spot-a"))
    with Between(plane.url) as between:
        yield between


@pytest.fixture
def cluster(plane: ControlPlane, between: Between) -> Iterator[KubernetesCluster]:
    """The function's own connection over it, with everything watched."""
    with connected(plane, server=between.url, prefetch=True) as cluster:
        assert ask(cluster, Observe("spot-a")) == [Done()]
        watch_until(cluster, lambda o: is_current(o) and cluster.server.sent["watch", "pods"])
        yield cluster


def is_current(observation: Observation) -> bool:
    freshness = (observation.nodes["spot-a"].freshness, observation.budgets.freshness, observation.services.freshness)
    return set(freshness) == {Freshness.CURRENT}


def names(observation: Observation) -> set[str]:
    return {pod.ref.name for pod in observation.nodes["spot-a"].pods}


def test_a_watch_whose_connection_breaks_is_resumed_without_a_list(
    cluster: KubernetesCluster, between: Between, api: Api
) -> None:
    running(api, "first", "spot-a")
    watch_until(cluster, lambda o: names(o) == {"first"})
    between.reset()
    running(api, "second", "spot-a")
    watch_until(cluster, lambda o: names(o) == {"first", "second"})
    assert cluster.server.sent["list", "pods"] == 1
    assert cluster.server.sent["watch", "pods"] == 2


def test_a_connection_that_broke_while_idle_costs_one_answer_at_most(
    cluster: KubernetesCluster, between: Between, api: Api
) -> None:
    ask(cluster, BY_NAME)
    between.reset()
    results = [type(ask(cluster, BY_NAME)[0]) for _ in range(2)]
    assert results in ([Located, Located], [Passing, Located])


def test_without_a_connection_answers_come_and_what_is_seen_is_called_stale(
    cluster: KubernetesCluster, between: Between, api: Api
) -> None:
    between.refuse()
    result = ask(cluster, BY_NAME)[0]
    assert isinstance(result, Passing)
    watch_until(cluster, lambda o: o.nodes["spot-a"].freshness is Freshness.STALE)
    why = cluster.observe().nodes["spot-a"].why
    assert "127.0.0.1" in why
    between.restore()
    running(api, "web", "spot-a")
    watch_until(cluster, lambda o: is_current(o) and names(o) == {"web"})
    assert cluster.observe().nodes["spot-a"].why == ""


def test_an_api_server_that_is_away_for_seconds_is_found_again(
    cluster: KubernetesCluster, plane: ControlPlane, api: Api
) -> None:
    pod = running(api, "web", "spot-a")
    watch_until(cluster, lambda o: names(o) == {"web"})
    plane.stop_process("kube-apiserver")
    watch_until(cluster, lambda o: o.nodes["spot-a"].freshness is Freshness.STALE)
    assert names(cluster.observe()) == {"web"}
    assert isinstance(ask(cluster, Evict(pod, GRACE))[0], Passing)
    time.sleep(3)
    plane.start_process("kube-apiserver")
    watch_until(cluster, is_current)
    assert ask(cluster, Evict(pod, GRACE)) == [Done()]
    watch_until(cluster, lambda o: names(o) == set())


def test_an_api_server_that_hangs_blocks_nobody_and_its_answers_are_unknown(
    cluster: KubernetesCluster, plane: ControlPlane, api: Api
) -> None:
    pod = running(api, "web", "spot-a")
    eviction, cordon = Evict(pod, GRACE), Cordon("spot-a", mark_of("spot-a"))
    nobody = PodRef("default", "nobody", NOBODYS)
    assert ask(cluster, BY_NAME, Evict(nobody, GRACE))[1] == Absent()  # a connection each, kept
    plane.freeze_process("kube-apiserver")
    began = CLOCK.now()
    while cluster.wait(began + timedelta(milliseconds=10)):
        pass
    assert CLOCK.now() - began < timedelta(seconds=1)
    answers = collect(cluster, eviction, cordon)
    plane.thaw_process("kube-apiserver")
    after = {a.action: (type(a.result), round((a.at - began).total_seconds())) for a in answers}
    assert after == {cordon: (Unknown, 5), eviction: (Unknown, 13)}
    assert ask(cluster, cordon) == [Done()]


def test_a_connection_that_never_came_about_did_nothing(plane: ControlPlane, between: Between) -> None:
    plane.freeze_process("kube-apiserver")
    with connected(plane, server=between.url) as cluster:
        began = time.monotonic()
        result = ask(cluster, BY_NAME)[0]
        took = time.monotonic() - began
    plane.thaw_process("kube-apiserver")
    assert isinstance(result, Passing)
    assert "security groups" in result.message
    assert 2.5 < took < 5


def test_closing_does_not_wait_for_a_server_that_hangs(
    plane: ControlPlane, between: Between, cluster: KubernetesCluster
) -> None:
    plane.freeze_process("kube-apiserver")
    cluster.start(BY_NAME)
    began = time.monotonic()
    cluster.close()
    took = time.monotonic() - began
    plane.thaw_process("kube-apiserver")
    assert took < 1
    assert cluster.wait(CLOCK.now()) in ([], ())
