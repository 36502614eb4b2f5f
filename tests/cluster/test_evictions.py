"""Pods leave through the adapter, on a real control plane."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from controlplane import Api, ControlPlane
from lambdas.adapters.kubernetes import KubernetesCluster
from lambdas.domain.values.actions import Action, Cordon, Delete, Evict, Locate, Observe
from lambdas.domain.values.answers import Absent, Answer, Blocked, Done
from lambdas.domain.values.kubernetes import BudgetRef, PodRef
from lambdas.domain.values.observation import Observation
from tests.cluster.provocations import NOBODYS
from tests.cluster.rig import CLOCK, PODS, ask, collect, connected, grant, mark_of, running, watch_until
from tests.scenes import bare, budget, instance_id, node, times

pytestmark = pytest.mark.cluster

GRACE = timedelta(seconds=30)
MANY = 250


@pytest.fixture
def cluster(plane: ControlPlane, api: Api) -> Iterator[KubernetesCluster]:
    """The function's own connection, with exactly the shipped role; one node."""
    grant(api)
    api.apply(node("spot-a"))
    with connected(plane, prefetch=True) as cluster:
        yield cluster


def refs(observation: Observation) -> set[PodRef]:
    return {pod.ref for pod in observation.nodes["spot-a"].pods}


def test_an_evicted_pod_is_seen_terminating_and_then_gone(cluster: KubernetesCluster, api: Api) -> None:
    pod = running(api, "web", "spot-a", grace=60, annotations=times(0.05, 1))
    ask(cluster, Observe("spot-a"))
    assert ask(cluster, Evict(pod, timedelta(seconds=12.9))) == [Done()]
    seen = watch_until(cluster, lambda o: [p.deletion for p in o.nodes["spot-a"].pods if p.deletion])
    assert seen[0].grace == timedelta(seconds=12)
    watch_until(cluster, lambda o: not refs(o))


def test_only_an_eviction_marks_the_pod_as_disrupted(cluster: KubernetesCluster, api: Api) -> None:
    slow = {"annotations": times(0.05, 20)}
    evicted, deleted = running(api, "one", "spot-a", **slow), running(api, "two", "spot-a", **slow)
    assert ask(cluster, Evict(evicted, GRACE), Delete(deleted, GRACE)) == [Done(), Done()]
    assert disrupted(api, "one")
    assert not disrupted(api, "two")


def disrupted(api: Api, name: str) -> bool:
    conditions = api.get(f"{PODS}/{name}")[1]["status"]["conditions"]
    return any(c["type"] == "DisruptionTarget" and c["status"] == "True" for c in conditions)


def test_a_pod_gets_no_more_than_its_own_grace(cluster: KubernetesCluster, api: Api) -> None:
    pod = running(api, "web", "spot-a", grace=7, annotations=times(0.05, 20))
    ask(cluster, Observe("spot-a"))
    assert ask(cluster, Evict(pod, GRACE)) == [Done()]
    assert api.get(f"{PODS}/web")[1]["metadata"]["deletionGracePeriodSeconds"] == 7


def test_a_shorter_grace_shortens_a_shutdown_that_has_begun(cluster: KubernetesCluster, api: Api) -> None:
    pod = running(api, "web", "spot-a", annotations=times(0.05, 60))
    assert ask(cluster, Evict(pod, GRACE)) == [Done()]
    assert ask(cluster, Evict(pod, timedelta(0))) == [Done()]
    assert api.get(f"{PODS}/web")[1]["metadata"]["deletionGracePeriodSeconds"] == 1


def test_another_incarnation_of_the_pod_is_left_alone(cluster: KubernetesCluster, api: Api) -> None:
    pod = running(api, "web", "spot-a")
    stale = replace(pod, uid=NOBODYS)
    assert ask(cluster, Evict(stale, GRACE), Delete(stale, GRACE)) == [Absent(), Absent()]
    assert "deletionTimestamp" not in api.get(f"{PODS}/web")[1]["metadata"]


def test_of_two_evictions_of_one_budget_one_is_held_and_told_by_which(cluster: KubernetesCluster, api: Api) -> None:
    slow = {"annotations": times(0.05, 30)}
    pods = [running(api, name, "spot-a", {"app": "web"}, **slow) for name in ("one", "two")]
    api.apply(budget("web", {"app": "web"}, minAvailable=1))
    watch_until(cluster, lambda o: [b for b in o.budgets.items if b.allowed == 1])
    results = ask(cluster, *(Evict(pod, GRACE) for pod in pods))
    held = [result for result in results if isinstance(result, Blocked)]
    assert [type(result) for result in results].count(Done) == 1
    assert [result.budget for result in held] == [BudgetRef("default", "web")]


def test_a_budget_is_seen_to_open(cluster: KubernetesCluster, api: Api) -> None:
    pod = running(api, "one", "spot-a", {"app": "web"})
    api.apply(budget("web", {"app": "web"}, minAvailable=1))
    watch_until(cluster, lambda o: [b for b in o.budgets.items if b.healthy == 1])
    assert isinstance(ask(cluster, Evict(pod, GRACE))[0], Blocked)
    running(api, "two", "spot-b", {"app": "web"})
    watch_until(cluster, lambda o: [b for b in o.budgets.items if b.allowed == 1])
    assert ask(cluster, Evict(pod, GRACE)) == [Done()]


def test_a_fresh_list_begins_when_it_is_asked_for(cluster: KubernetesCluster, api: Api) -> None:
    running(api, "web", "spot-a")
    ask(cluster, Observe("spot-a"))
    first = cluster.observe().nodes["spot-a"].listed_at
    before = CLOCK.now()
    assert ask(cluster, Observe("spot-a")) == [Done()]
    assert first < before <= cluster.observe().nodes["spot-a"].listed_at


def test_observing_costs_no_request(cluster: KubernetesCluster, api: Api) -> None:
    ask(cluster, Observe("spot-a"))
    watch_until(cluster, lambda o: o.budgets.items == () and cluster.server.sent["watch", "pods"])
    sent = sum(cluster.server.sent.values())
    for _ in range(100):
        cluster.observe()
    assert sum(cluster.server.sent.values()) == sent


def test_a_node_full_of_pods_is_emptied_in_few_requests(
    plane: ControlPlane, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    grant(api)
    api.apply(node("spot-a", pods=MANY))
    with ThreadPoolExecutor(4) as helpers:
        made = [bare(f"pod-{i:03}", "spot-a", {"app": "web"}, annotations=times(0.05, 1)) for i in range(MANY)]
        assert {status for status, _ in helpers.map(lambda pod: api.post(PODS, pod), made)} == {201}
    api.until(lambda: len(api.items("Pod", "default", "fieldSelector=status.phase=Running")) == MANY, what="all run")
    with connected(plane, prefetch=True) as cluster:
        began = time.monotonic()
        ask(cluster, Locate(instance_id("spot-a"), ("spot-a",)))
        ask(cluster, Cordon("spot-a", mark_of("spot-a")))
        cordoned = time.monotonic()
        ask(cluster, Observe("spot-a"))
        evictions: list[Action] = [Evict(ref, GRACE) for ref in refs(cluster.observe())]
        asked = time.monotonic()
        answers = collect(cluster, *evictions, within=120)
        accepted = time.monotonic()
        watch_until(cluster, lambda o: not refs(o), within=120)
        sent = Counter({f"{verb} {resource}": n for (verb, resource), n in cluster.server.sent.items()})
    _tell(capsys, began, cordoned, asked, accepted, sent)
    assert [answer.result for answer in answers] == [Done()] * MANY
    assert len({_action(answer) for answer in answers}) == MANY
    assert sent.total() - sent["create pods/eviction"] < 20
    assert sent["create pods/eviction"] == MANY


def _action(answer: Answer) -> int:
    return id(answer.action)


def _tell(
    capsys: pytest.CaptureFixture[str],
    began: float,
    cordoned: float,
    asked: float,
    accepted: float,
    sent: Counter[str],
) -> None:
    """Figures are told, not asserted: this machine is not theirs."""
    with capsys.disabled():
        text = f"located and cordoned in {(cordoned - began) * 1000:.0f} ms, listed {(asked - cordoned) * 1000:.0f} ms"
        sys.stderr.write(f"\n{text}, {MANY} evictions accepted in {accepted - asked:.2f} s; requests: {dict(sent)}\n")
