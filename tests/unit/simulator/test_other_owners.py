"""StatefulSets, Jobs and DaemonSets, where order, back-off and taints matter."""

from collections.abc import Iterable
from typing import Any

import pytest

from evac.simulator import Hand, Key, Raw, Simulation
from lambdas.domain.values.answers import Done
from tests.scenes import at, job, node, stateful_set, template, times, workload
from tests.unit.simulator.stage import delete, evict, pods, run_until, simulate

SPOT, ROOM = node("spot-a", pods=500), node("od-1", pods=500)
WEB = Key("Deployment", "default", "web")


def test_two_evicted_pods_of_an_ordered_set_come_back_lowest_first() -> None:
    owner, *made = stateful_set("db", ["spot-a"] * 3, annotations=times(5, 1))
    owner["spec"]["podManagementPolicy"] = "OrderedReady"
    simulation = simulate(SPOT, owner, *made)
    for name in ("db-0", "db-2"):
        assert evict(simulation, name) == Done()
    simulation.run_until(at(30))
    zero, two = (simulation.journal.named("default", n)[1] for n in ("db-0", "db-2"))
    assert zero.ready_at
    assert zero.ready_at <= two.created_at


def test_a_set_gives_up_its_highest_ordinal_first() -> None:
    simulation = simulate(SPOT, *stateful_set("db", ["spot-a"] * 3))
    simulation.patch("StatefulSet", "default", "db", {"spec": {"replicas": 1}})
    simulation.run_until(at(10))
    assert [p["metadata"]["name"] for p in pods(simulation, "db")] == ["db-0"]


def test_a_set_makes_a_finished_pod_again() -> None:
    simulation = simulate(SPOT, *stateful_set("db", ["spot-a"], annotations=times(1, 1, completes=5)))
    simulation.run_until(at(8))
    assert len(simulation.journal.named("default", "db-0")) == 2


def test_pods_of_a_set_have_their_claims() -> None:
    owner, *_ = stateful_set("db", ["spot-a"])
    owner["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}}]
    simulation = simulate(SPOT, owner)
    simulation.run_until(at(1))
    [pod] = pods(simulation, "db")
    assert pod["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]


def jobs(simulation: Simulation) -> Raw:
    [found] = simulation.list("Job")
    return found


def test_a_jobs_evicted_pod_is_replaced_ten_seconds_later_and_counts_as_a_failure() -> None:
    simulation = simulate(SPOT, ROOM, *job("batch", "spot-a"))
    assert evict(simulation, "batch-x") == Done()
    assert run_until(simulation, lambda: len(list(simulation.journal)) == 2) == pytest.approx(10, abs=0.1)
    assert jobs(simulation)["status"]["failed"] == 1


def test_an_ignored_failure_does_not_count_and_is_replaced_only_once_the_pod_has_failed() -> None:
    owner, pod = job("batch", "spot-a", annotations=times(1, 15))
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    owner["spec"] |= {"podFailurePolicy": {"rules": [rule]}, "backoffLimit": 0}
    simulation = simulate(SPOT, ROOM, owner, pod)
    assert evict(simulation, "batch-x") == Done()
    assert run_until(simulation, lambda: len(list(simulation.journal)) == 2) == pytest.approx(25, abs=0.1)
    assert "failed" not in jobs(simulation)["status"]


@pytest.mark.parametrize(("action", "reason"), [("FailJob", "PodFailurePolicy"), ("Count", "BackoffLimitExceeded")])
def test_a_plain_delete_is_judged_by_its_exit_code(action: str, reason: str) -> None:
    owner, pod = job("batch", "spot-a", annotations=times(1, 1))
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        {"action": action, "onExitCodes": {"operator": "In", "values": [143]}},
    ]
    owner["spec"] |= {"podFailurePolicy": {"rules": rules}, "backoffLimit": 0}
    simulation = simulate(SPOT, owner, pod)
    assert delete(simulation, "batch-x") == Done()
    simulation.run_until(at(30))
    [failed] = [c for c in jobs(simulation)["status"]["conditions"] if c["type"] == "Failed"]
    assert failed["reason"] == reason
    assert not simulation.list("Pod")


def an_indexed_job(completions: int, parallelism: int) -> Raw:
    made = template({"job-name": "batch"}, annotations=times(1, 1, completes=2), restartPolicy="Never")
    spec = {"completions": completions, "parallelism": parallelism, "completionMode": "Indexed", "template": made}
    return workload("Job", "batch", spec, api="batch/v1")


def test_an_indexed_job_runs_every_index_once_and_a_lost_one_again() -> None:
    simulation = simulate(SPOT, an_indexed_job(4, 2))
    simulation.run_until(at(1.5))
    lost = simulation.list("Pod")[0]["metadata"]
    simulation.delete("Pod", "default", lost["name"])
    run_until(simulation, lambda: jobs(simulation).get("status", {}).get("completionTime"))
    assert jobs(simulation)["status"]["completedIndexes"] == "0-3"
    again = [s for s in simulation.journal if s.pod.name.startswith("batch-0-")]
    assert len(again) == 2


def test_a_job_without_completions_ends_with_its_first_success() -> None:
    made = template({"job-name": "batch"}, annotations=times(1, 1, completes=2), restartPolicy="Never")
    simulation = simulate(SPOT, workload("Job", "batch", {"parallelism": 2, "template": made}, api="batch/v1"))
    run_until(simulation, lambda: jobs(simulation).get("status", {}).get("completionTime"))
    simulation.run_until(at(30))
    assert len(list(simulation.journal)) == 2


def test_a_suspended_job_gives_its_pods_up() -> None:
    simulation = simulate(SPOT, *job("batch", "spot-a"))
    simulation.patch("Job", "default", "batch", {"spec": {"suspend": True}})
    simulation.run_until(at(10))
    assert simulation.list("Pod") == []


def daemons(**of: Any) -> Raw:
    made = template({"app": "agent"}, annotations=times(1, 1), **of)
    return workload("DaemonSet", "agent", {"selector": {"matchLabels": {"app": "agent"}}, "template": made})


def places(found: Iterable[Raw]) -> list[str]:
    return sorted(p["spec"].get("nodeName", "") for p in found)


def test_a_daemon_set_has_one_pod_on_every_node_it_may_use_also_on_one_that_joins() -> None:
    tainted = node("taken", taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}])
    cordoned = node("shut", unschedulable=True)
    simulation = simulate(SPOT, tainted, cordoned, daemons())
    simulation.run_until(at(5))
    assert places(pods(simulation, "agent")) == ["shut", "spot-a"]
    simulation.apply(node("new"))
    simulation.run_until(at(10))
    assert places(pods(simulation, "agent")) == ["new", "shut", "spot-a"]


def test_a_taint_without_execution_leaves_a_daemon_sets_pod_and_bars_its_return() -> None:
    simulation = simulate(SPOT, daemons())
    simulation.run_until(at(5))
    simulation.patch("Node", "", "spot-a", {"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})
    simulation.run_until(at(10))
    [pod] = pods(simulation, "agent")
    assert evict(simulation, pod["metadata"]["name"]) == Done()
    simulation.run_until(at(20))
    assert pods(simulation, "agent") == []


def test_a_daemon_set_leaves_a_node_that_its_selector_no_longer_means() -> None:
    simulation = simulate(node("spot-a", labels={"disk": "ssd"}), daemons(nodeSelector={"disk": "ssd"}))
    simulation.run_until(at(5))
    assert len(pods(simulation, "agent")) == 1
    simulation.patch("Node", "", "spot-a", {"metadata": {"labels": {"disk": None}}})
    simulation.run_until(at(10))
    assert pods(simulation, "agent") == []
    assert [s.hand for s in simulation.journal] == [Hand.CONTROLLER]
