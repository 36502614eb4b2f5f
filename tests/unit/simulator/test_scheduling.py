"""The corners of the scheduler: priorities, gates, namespaces, domains, volumes."""

from typing import Any

import pytest

from evac.simulator import Raw, Simulation
from tests.scenes import at, bare, deployment, node, times, workload
from tests.unit.simulator.stage import pods, run_until, simulate

ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def floating(name: str, *, namespace: str = "default", labels: dict[str, str] | None = None, **of: Any) -> Raw:
    pod = bare(name, "", labels or {"app": name}, annotations=times(1, 1), **of)
    del pod["spec"]["nodeName"], pod["status"]
    pod["metadata"]["namespace"] = namespace
    return pod


def place(simulation: Simulation, name: str, namespace: str = "default") -> str:
    pod = simulation.get("Pod", namespace, name)
    assert pod
    return str(pod["spec"].get("nodeName") or "")


def placed(*objects: Raw, name: str = "p", namespace: str = "default") -> str:
    """Where the pod is after a second."""
    simulation = simulate(*objects)
    simulation.run_until(at(1))
    return place(simulation, name, namespace)


def test_the_highest_priority_comes_first() -> None:
    small = node("n", pods=1)
    assert placed(small, floating("low"), floating("p", priority=1000)) == "n"
    assert placed(small, floating("low"), floating("p", priority=1000), name="low") == ""


def test_a_gated_pod_is_not_looked_at() -> None:
    assert placed(node("n"), floating("p", schedulingGates=[{"name": "wait"}])) == ""


def test_a_workloads_pods_are_spread_over_nodes() -> None:
    nodes = [node(f"n{i}") for i in range(3)]
    owner = workload("ReplicaSet", "web", {"replicas": 6, "selector": {"matchLabels": {"app": "web"}}})
    owner["spec"]["template"] = floating("web")
    simulation = simulate(*nodes, owner)
    run_until(simulation, lambda: len([p for p in pods(simulation) if p["spec"].get("nodeName")]) == 6)
    assert sorted(p["spec"]["nodeName"] for p in pods(simulation)) == ["n0", "n0", "n1", "n1", "n2", "n2"]


@pytest.mark.parametrize(
    ("containers", "inits", "fits"),
    [
        (["32", "32"], [], True),
        (["32", "33"], [], False),
        (["1"], [("65", "")], False),
        (["1"], [("64", "")], True),
        (["33"], [("32", "Always")], False),
        (["1"], [("32", "Always"), ("33", "")], False),
    ],
)
def test_requests_are_the_larger_of_running_and_starting(
    containers: list[str], inits: list[tuple[str, str]], fits: bool
) -> None:
    def container(cpu: str, policy: str = "") -> Raw:
        made = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
        return {**made, "restartPolicy": policy} if policy else made

    spec: dict[str, Any] = {"containers": [container(c) for c in containers]}
    spec["initContainers"] = [container(*i) for i in inits]
    assert bool(placed(node("n"), floating("p", **spec))) is fits


def test_a_sketched_node_without_a_size_has_room() -> None:
    sketched = {"kind": "Node", "metadata": {"name": "n"}}
    assert placed(sketched, floating("p")) == "n"


@pytest.mark.parametrize(
    ("where", "kept_away"),
    [
        ({}, False),
        ({"namespaces": ["other"]}, True),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, False),
    ],
)
def test_anti_affinity_looks_into_the_namespaces_it_names(where: Raw, kept_away: bool) -> None:
    other = {"kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "a"}}}
    there = bare("there", "n", {"app": "noisy"})
    there["metadata"]["namespace"] = "other"
    term = {"labelSelector": {"matchLabels": {"app": "noisy"}}, "topologyKey": ZONE, **where}
    pod = floating("p", affinity={"podAntiAffinity": {REQUIRED: [term]}})
    assert (placed(node("n"), other, there, pod) == "") is kept_away


def test_match_label_keys_narrow_a_term_to_pods_of_the_same_version() -> None:
    old = bare("old", "n", {"app": "web", "version": "1"})
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    affinity = {"podAntiAffinity": {REQUIRED: [term]}}
    narrow = {"podAntiAffinity": {REQUIRED: [{**term, "matchLabelKeys": ["version"]}]}}
    labels = {"app": "web", "version": "2"}
    assert placed(node("n"), old, floating("p", labels=labels, affinity=affinity)) == ""
    assert placed(node("n"), old, floating("p", labels=labels, affinity=narrow)) == "n"


def spread(**constraint: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    made = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return {"topologySpreadConstraints": [{**made, **constraint}], "labels": {"app": "web"}}


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ({}, ""),
        ({"whenUnsatisfiable": "ScheduleAnyway"}, "a"),
        ({"maxSkew": 2}, "a"),
        ({"nodeTaintsPolicy": "Honor"}, "a"),
        ({"minDomains": 3, "nodeTaintsPolicy": "Honor"}, ""),
    ],
)
def test_a_spread_counts_domains_as_its_policies_say(constraint: Raw, expected: str) -> None:
    full, empty = node("a", labels={ZONE: "a"}), node("b", labels={ZONE: "b"}, unschedulable=True)
    one = bare("one", "a", {"app": "web"})
    assert placed(full, empty, one, floating("p", **spread(**constraint))) == expected


def test_terminating_pods_do_not_count_in_a_spread() -> None:
    full, empty = node("a", labels={ZONE: "a"}), node("b", labels={ZONE: "b"}, unschedulable=True)
    one = bare("one", "a", {"app": "web"}, annotations=times(1, 60), grace=60)
    simulation = simulate(full, empty, one)
    simulation.delete("Pod", "default", "one")
    simulation.apply(floating("p", **spread()))
    simulation.run_until(at(1))
    assert place(simulation, "p") == "a"


def claim(name: str = "data", *modes: str, **more: Any) -> Raw:
    spec = {"accessModes": list(modes or ["ReadWriteOnce"]), **more.pop("spec", {})}
    metadata = {"name": name, "namespace": "default", **more}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


VOLUMES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
ZONES = [node("a", labels={ZONE: "a"}, unschedulable=True), node("b", labels={ZONE: "b"})]


def test_a_claim_lives_in_the_zone_where_it_was_seen_in_use() -> None:
    web = deployment("web", {"a": 1}, annotations=times(1, 1), volumes=VOLUMES)
    simulation = simulate(*ZONES, claim(), *web)
    simulation.delete("Pod", "default", web[2]["metadata"]["name"])
    simulation.run_until(at(30))
    assert [p["spec"].get("nodeName") for p in pods(simulation)] == [None]
    simulation.apply(node("a2", labels={ZONE: "a"}))
    simulation.run_until(at(31))
    assert [p["spec"].get("nodeName") for p in pods(simulation)] == ["a2"]


def test_a_claim_lives_where_its_node_was_selected() -> None:
    selected = claim(annotations={"volume.kubernetes.io/selected-node": "a"})
    assert placed(*ZONES, selected, floating("p", volumes=VOLUMES)) == ""
    assert placed(*ZONES, claim(), floating("p", volumes=VOLUMES)) == "b"


@pytest.mark.parametrize(("zone", "expected"), [("a", ""), ("b", "b")])
def test_a_volumes_node_affinity_decides_where_it_is_known(zone: str, expected: str) -> None:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    volume = {
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
    }
    pod = floating("p", volumes=VOLUMES)
    assert placed(*ZONES, volume, claim(spec={"volumeName": "pv"}), pod) == expected


def test_a_claim_for_one_pod_keeps_the_next_waiting() -> None:
    holder = bare("holder", "b", volumes=VOLUMES)
    assert placed(*ZONES, claim("data", "ReadWriteOncePod"), holder, floating("p", volumes=VOLUMES)) == ""


def test_claims_that_were_not_printed_ask_for_nothing() -> None:
    ephemeral = [*VOLUMES, {"name": "tmp", "ephemeral": {"volumeClaimTemplate": {}}}]
    assert placed(*ZONES, floating("p", volumes=ephemeral)) == "b"
