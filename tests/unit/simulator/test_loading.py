"""A scenario as somebody printed or sketched it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evac.simulator import Simulation
from lambdas.domain.values.answers import Done
from lambdas.domain.values.kubernetes import BudgetRef
from tests.scenes import at, bare, budget, deployment, job, node, stateful_set, template, times
from tests.unit.simulator.stage import SECOND, evict, pods, run_until, seconds, simulate, staying, story

SPOT = node("spot-a")


def test_lists_are_their_items_and_items_of_a_typed_list_get_its_kind() -> None:
    untyped = {k: v for k, v in bare("one", "spot-a").items() if k not in {"kind", "apiVersion"}}
    simulation = simulate(
        {
            "kind": "List",
            "apiVersion": "v1",
            "items": [SPOT, {"kind": "PodList", "apiVersion": "v1", "items": [untyped]}],
        }
    )
    assert [p["metadata"]["name"] for p in simulation.list("Pod")] == ["one"]
    assert simulation.get("Node", "", "spot-a")


def test_a_running_cluster_stays_as_it_is() -> None:
    web = deployment("web", {"spot-a": 3, "od-1": 2})
    simulation = simulate(SPOT, node("od-1"), *web, budget("web", {"app": "web"}, maxUnavailable=1))
    before = {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in pods(simulation)}
    simulation.run_until(at(600))
    assert {p["metadata"]["uid"]: p["spec"]["nodeName"] for p in pods(simulation)} == before
    assert len(simulation.list("ReplicaSet")) == 1
    assert simulation.history.budget_exceeded(BudgetRef("default", "web")) == 0


def test_what_is_missing_is_filled_in() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "spot-a"}, "status": {"phase": "Running"}}
    simulation = simulate(SPOT, pod)
    [found] = simulation.list("Pod")
    assert found["metadata"]["namespace"] == "default"
    assert found["metadata"]["uid"]
    assert found["metadata"]["creationTimestamp"] == "2026-11-02T03:04:05Z"
    assert story(simulation, "p").ready_at == at(0)


def test_owner_references_without_a_uid_find_their_owner_by_name() -> None:
    owner, sets, *made = deployment("web", {"spot-a": 2})
    for raw in (owner, sets, *made):
        raw["metadata"].pop("uid", None)
        for reference in raw["metadata"].get("ownerReferences", ()):
            reference.pop("uid")
    simulation = simulate(SPOT, owner, sets, *made)
    simulation.run_until(at(60))
    assert len(pods(simulation)) == 2
    assert not simulation.unknown_owners


def test_pods_of_an_owner_that_is_not_there_are_not_replaced_and_said_to_be_unknown() -> None:
    owner, _, *made = deployment("web", {"spot-a": 2})
    simulation = simulate(SPOT, node("od-1"), owner, *made)
    assert evict(simulation, made[0]["metadata"]["name"]) == Done()
    simulation.run_until(at(60))
    assert len(pods(simulation)) == 1
    assert simulation.unknown_kinds == {"ReplicaSet"}
    assert any("ReplicaSet default/web-5d4f8c7b9" in note and "2 pods" in note for note in simulation.notes)


def test_a_custom_owner_is_unknown_and_its_budget_keeps_what_the_real_controller_counted() -> None:
    guarded = budget("web", {"app": "web"}, maxUnavailable=1)
    guarded["status"] = {"expectedPods": 3, "desiredHealthy": 2, "currentHealthy": 3, "disruptionsAllowed": 1}
    owner = [{"apiVersion": "argoproj.io/v1", "kind": "Rollout", "name": "web", "uid": "r", "controller": True}]
    made = [bare(f"w{i}", "spot-a", {"app": "web"}) for i in range(3)]
    for pod in made:
        pod["metadata"]["ownerReferences"] = owner
    simulation = simulate(SPOT, *made, guarded)
    assert simulation.unknown_kinds == {"Rollout"}
    found = simulation.get("PodDisruptionBudget", "default", "web")
    assert found
    assert {k: found["status"][k] for k in guarded["status"]} == guarded["status"]


def test_a_deployment_without_pods_or_replica_set_is_rolled_out() -> None:
    owner, *_ = deployment("web", {"spot-a": 2})
    simulation = simulate(SPOT, owner)
    assert run_until(simulation, lambda: len(staying(simulation)) == 2) < 1


def test_a_replica_set_printed_otherwise_than_its_deployment_is_known_by_its_revision() -> None:
    owner, sets, *made = deployment("web", {"spot-a": 2})
    sets["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst"
    simulation = simulate(SPOT, owner, sets, *made)
    simulation.run_until(at(60))
    assert len(simulation.list("ReplicaSet")) == 1


def test_a_pod_that_was_on_its_way_out_goes_on_from_now_whenever_it_was_printed() -> None:
    for printed in ("2020-01-01T00:00:00Z", "2026-11-02T03:04:25Z", "2030-01-01T00:00:00Z"):
        pod = bare("old", "spot-a", annotations=times(1, 60), grace=30)
        pod["metadata"] |= {"deletionTimestamp": printed, "deletionGracePeriodSeconds": 30}
        simulation = simulate(SPOT, pod)
        assert 20 <= run_until(simulation, lambda s=simulation: not s.list("Pod")) <= 31  # type: ignore[misc]


def test_a_pod_that_was_starting_starts() -> None:
    pod = bare("p", "spot-a", annotations=times(4))
    pod["status"] = {"phase": "Pending"}
    simulation = simulate(SPOT, pod)
    assert run_until(simulation, lambda: story(simulation, "p").ready_at) == pytest.approx(4, abs=0.02)


def test_a_completion_is_counted_from_the_beginning_for_a_pod_that_runs_already() -> None:
    simulation = simulate(SPOT, bare("p", "spot-a", annotations=times(completes=60)))
    assert run_until(simulation, lambda: story(simulation, "p").finished_at) == pytest.approx(60, abs=0.02)


def test_unready_pods_stay_unready() -> None:
    simulation = simulate(SPOT, *stateful_set("db", ["spot-a"], ready=False))
    simulation.run_until(at(60))
    assert story(simulation, "db-0").ready_at is None


def test_finished_pods_of_a_job_are_not_counted_a_second_time() -> None:
    owner, done = job("batch", "spot-a")
    owner["spec"] |= {"completions": 2, "parallelism": 1}
    owner["status"] = {"startTime": "2026-11-02T01:00:00Z", "succeeded": 1}
    done["status"]["phase"] = "Succeeded"
    done["status"]["conditions"] = []
    simulation = simulate(SPOT, owner, done)
    simulation.run_until(at(5))
    assert len([p for p in simulation.list("Pod") if p["status"]["phase"] != "Succeeded"]) == 1


def test_pods_on_nodes_that_were_not_printed_are_noted() -> None:
    simulation = simulate(bare("p", "elsewhere"))
    assert any("1 pods are on nodes" in note for note in simulation.notes)


def test_objects_of_unknown_kinds_and_without_names_do_no_harm() -> None:
    strange = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "x"}}
    foreign = {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "s", "namespace": "x"}}
    simulation = simulate(SPOT, strange, foreign, {"kind": "Pod", "metadata": {}}, {"metadata": {"name": "n"}})
    simulation.run_until(at(10))
    assert simulation.get("Widget", "x", "w")
    assert simulation.list("Service") == []
    assert len([note for note in simulation.notes if "left out" in note]) == 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "spec", "key"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(st.sampled_from(["Widget", "Rollout", "NetworkPolicy", "Secret"]), _JSON, _JSON)
@settings(max_examples=50, deadline=None)
def test_whatever_an_unknown_kind_holds_is_kept_as_it_is(kind: str, spec: Any, status: Any) -> None:
    thing = {"kind": kind, "metadata": {"name": "w", "namespace": "x"}, "spec": spec, "status": status}
    simulation = Simulation([SPOT, thing], at(0))
    simulation.run_for(SECOND)
    found = simulation.get(kind, "x", "w")
    assert found
    assert (found["spec"], found["status"]) == (spec, status)


def test_a_template_without_metadata_or_containers_is_no_error() -> None:
    made = template({"app": "web"})
    del made["spec"]["containers"]
    spec = {"replicas": 1, "template": made, "selector": {"matchLabels": {"app": "web"}}}
    sets = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}
    simulation = simulate(SPOT, sets)
    run_until(simulation, lambda: len(pods(simulation)) == 1)
    assert seconds(simulation) < 1
