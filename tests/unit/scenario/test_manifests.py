"""A cluster out of manifests: every form that kubectl prints, and what is wrong with it by line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evac.errors import InputError
from evac.scenario.collecting import Scenario
from evac.scenario.manifests import read_scenario
from lambdas.domain.values import manifests as values
from lambdas.domain.values import workload_manifests as workloads
from tests.scenes import (
    Json,
    autoscaler,
    bare,
    budget,
    claim,
    daemon_set,
    deployment,
    job,
    node,
    quota,
    service,
    stateful_set,
)

SCENE = [node("spot-a"), *deployment("web", {"spot-a": 2}), budget("web", {"app": "web"}, maxUnavailable="25%")]

POLICY: Json = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "podSelector": {"matchLabels": {"app": "web"}},
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "front"}}}]}],
        "egress": [{"to": [{"namespaceSelector": {}}]}],
    },
}
CONTROLLER: Json = {
    "apiVersion": "v1",
    "kind": "ReplicationController",
    "metadata": {"name": "old", "namespace": "default"},
    "spec": {"replicas": 1, "selector": {"app": "old"}, "template": {"metadata": {"labels": {"app": "old"}}}},
}
SCOPED = quota("most", {"pods": "2"}, pods="10", **{"requests.cpu": "4"})
SCOPED["spec"]["scopeSelector"] = {
    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
}
AROUND = [
    autoscaler(
        "web",
        least=1,
        most=9,
        annotations={"replay.spot-evac.dev/load": "7.5"},
        behavior={"scaleDown": {"stabilizationWindowSeconds": 60}},
    ),
    SCOPED,
    POLICY,
    CONTROLLER,
    claim("data"),
    service("web", {"app": "web"}),
    daemon_set("agent", {"app": "agent"}),
    *job("report", "spot-a"),
]
"""All that decides about releases."""

READERS = {
    "Node": values.read_node,
    "Pod": values.read_pod,
    "PodDisruptionBudget": values.read_budget,
    "Service": values.read_service,
    "Deployment": workloads.read_deployment,
    "ReplicaSet": workloads.read_replica_set,
    "DaemonSet": workloads.read_daemon_set,
    "Job": workloads.read_job,
    "ReplicationController": workloads.read_replication_controller,
    "NetworkPolicy": workloads.read_network_policy,
    "ResourceQuota": workloads.read_quota,
    "HorizontalPodAutoscaler": workloads.read_autoscaler,
    "PersistentVolumeClaim": workloads.read_claim,
}


def scenario(tmp_path: Path, content: str | Json, name: str = "c.yaml") -> Scenario:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_scenario([str(path)])


def complaint(tmp_path: Path, content: str | Json) -> InputError:
    with pytest.raises(InputError) as caught:
        scenario(tmp_path, content)
    assert caught.value.cure
    return caught.value


def names(found: Scenario) -> list[str]:
    return sorted(f"{o['kind']}/{o['metadata']['name']}" for o in found.objects)


def listed(*items: Json) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def test_a_list_a_stream_and_a_folder_are_the_same_cluster(tmp_path: Path) -> None:
    as_list = scenario(tmp_path, listed(*SCENE), "list.json")
    as_stream = scenario(tmp_path, yaml.safe_dump_all(SCENE), "stream.yaml")
    folder = tmp_path / "each"
    folder.mkdir()
    for i, item in enumerate(SCENE):
        (folder / f"{i}.yaml").write_text(yaml.safe_dump(item))
    as_folder = read_scenario([str(folder)])
    assert names(as_list) == names(as_stream) == names(as_folder)
    assert len(as_list.objects) == len(SCENE)


def test_a_typed_list_gives_its_items_their_kind(tmp_path: Path) -> None:
    item = {k: v for k, v in node("spot-a").items() if k not in {"kind", "apiVersion"}}
    found = scenario(tmp_path, {"apiVersion": "v1", "kind": "NodeList", "items": [item]})
    assert names(found) == ["Node/spot-a"]


def test_several_files_make_one_cluster(tmp_path: Path) -> None:
    paths = []
    for i, item in enumerate(SCENE):
        paths.append(str(tmp_path / f"{i}.json"))
        Path(paths[-1]).write_text(json.dumps(item))
    assert len(read_scenario(paths).objects) == len(SCENE)


def test_a_kind_that_is_not_there_is_unknown_and_not_empty(tmp_path: Path) -> None:
    unknown = [kind.word for kind in scenario(tmp_path, listed(*SCENE)).unknown]
    assert unknown == ["sts", "ds", "jobs", "rc", "svc", "pvc", "hpa", "quota", "netpol"]


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("serving.knative.dev/v1", "Service"), ("batch.volcano.sh/v1alpha1", "Job"), ("v1", "Job")],
)
def test_a_namesake_of_another_group_is_not_taken(tmp_path: Path, api_version: str, kind: str) -> None:
    other = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": {"template": 7}}
    found = scenario(tmp_path, listed(node("spot-a"), other))
    assert names(found) == ["Node/spot-a"]
    assert found.notes == (f"not used: {kind} (1)",)


def test_every_kind_that_decides_about_releases_is_taken(tmp_path: Path) -> None:
    found = scenario(tmp_path, listed(*SCENE, *AROUND))
    assert {item["kind"] for item in found.objects} >= READERS.keys()
    assert [kind.word for kind in found.unknown] == ["sts"]
    assert found.notes == ()


def test_deployments_without_their_replica_sets_are_named_since_nothing_of_theirs_is_released(tmp_path: Path) -> None:
    alone = [item for item in deployment("api", {"spot-a": 2}) if item["kind"] != "ReplicaSet"]
    at_rest = [item for item in deployment("rest", {}) if item["kind"] != "ReplicaSet"]
    found = scenario(tmp_path, listed(*SCENE, *alone, *at_rest))
    [note] = found.notes
    assert note.startswith("1 of the Deployments: no ReplicaSet of theirs is in the files")
    assert note.endswith("(print rs too): default/api")


def test_an_object_without_a_namespace_is_in_default_and_a_node_in_none(tmp_path: Path) -> None:
    pod = bare("p", "spot-a")
    del pod["metadata"]["namespace"]
    spot = node("spot-a")
    spot["metadata"]["namespace"] = "default"
    by_kind = {o["kind"]: o["metadata"].get("namespace") for o in scenario(tmp_path, listed(pod, spot)).objects}
    assert by_kind == {"Pod": "default", "Node": None}


def test_of_two_objects_with_one_name_the_last_counts_and_it_is_said(tmp_path: Path) -> None:
    first, last = budget("web", {"app": "web"}, maxUnavailable=1), budget("web", {"app": "web"}, maxUnavailable=2)
    found = scenario(tmp_path, listed(first, last))
    assert [o["spec"]["maxUnavailable"] for o in found.objects] == [2]
    assert found.notes == ("given more than once, the last counts: PodDisruptionBudget default/web",)


def test_a_pod_on_a_node_that_says_nothing_of_its_state_runs(tmp_path: Path) -> None:
    pod = bare("p", "spot-a")
    del pod["status"]
    [found] = scenario(tmp_path, pod).objects
    assert found["status"]["phase"] == "Running"
    assert {"type": "Ready", "status": "True"} in found["status"]["conditions"]


WRONG: list[tuple[str, list[Any], object, str]] = [
    ("Pod", ["spec", "terminationGracePeriodSeconds"], "long", "terminationGracePeriodSeconds"),
    ("Pod", ["metadata", "labels"], ["app"], "metadata.labels must be a mapping"),
    ("Pod", ["metadata", "labels", "app"], 1.1, "quote it"),
    ("Pod", ["spec", "containers", 0, "resources", "requests", "cpu"], "much", "quantity"),
    ("Pod", ["spec", "nodeName"], "../../nodes", "Kubernetes name"),
    ("Pod", ["status", "conditions", 0, "lastTransitionTime"], "yesterday", "a time"),
    ("Pod", ["metadata", "annotations", "replay.spot-evac.dev/startup"], "soon", "duration"),
    ("Pod", ["metadata", "annotations", "replay.spot-evac.dev/startup"], "10", "duration"),
    ("Pod", ["metadata", "annotations", "replay.spot-evac.dev/start-up"], "1s", "no such annotation"),
    ("Pod", ["metadata", "annotations", "replay.spot-evac.dev/ready"], "no", "true"),
    ("PodDisruptionBudget", ["spec", "maxUnavailable"], "half", "percentage"),
    ("PodDisruptionBudget", ["spec", "selector"], {"matchExpressions": [{"key": "a"}]}, "operator is missing"),
    ("PodDisruptionBudget", ["metadata", "name"], None, "metadata.name is missing"),
    ("Deployment", ["spec", "replicas"], -1, "whole number"),
    ("Deployment", ["spec", "template", "metadata", "labels"], {"app": "other"}, "does not select"),
    ("Node", ["spec", "taints"], {"key": "a"}, "a list"),
    (
        "HorizontalPodAutoscaler",
        ["spec", "behavior", "scaleDown", "stabilizationWindowSeconds"],
        "60s",
        "spec.behavior.scaleDown.stabilizationWindowSeconds must be a whole number from 0 to 3600",
    ),
    ("HorizontalPodAutoscaler", ["spec", "behavior", "scaleDown", "stabilizationWindowSeconds"], 7200, "to 3600"),
    ("HorizontalPodAutoscaler", ["spec", "behavior"], ["scaleDown"], "spec.behavior must be a mapping"),
    ("HorizontalPodAutoscaler", ["metadata", "annotations", "replay.spot-evac.dev/load"], "much", "number of pods"),
    ("HorizontalPodAutoscaler", ["metadata", "annotations", "replay.spot-evac.dev/load"], "nan", "number of pods"),
    (
        "HorizontalPodAutoscaler",
        ["metadata", "annotations", "replay.spot-evac.dev/startup"],
        "1s",
        "no such annotation",
    ),
    ("Pod", ["metadata", "annotations", "replay.spot-evac.dev/load"], "12", "no such annotation"),
    ("ResourceQuota", ["spec", "scopeSelector", "matchExpressions", 0, "scopeName"], "Priority", "one of Terminating"),
    ("ResourceQuota", ["spec", "scopeSelector", "matchExpressions", 0, "operator"], "Is", "one of In, NotIn"),
    ("ResourceQuota", ["spec", "scopeSelector", "matchExpressions", 0, "values"], "high", "must be a list"),
    ("ResourceQuota", ["spec", "scopeSelector"], ["x"], "spec.scopeSelector must be a mapping"),
    ("ResourceQuota", ["spec", "scopes"], ["Ending"], "spec.scopes[0] must be one of"),
    ("NetworkPolicy", ["spec", "ingress", 0, "from", 0, "podSelector"], "app", "podSelector must be a mapping"),
    ("NetworkPolicy", ["spec", "egress"], {"to": []}, "spec.egress must be a list"),
    ("Node", ["metadata", "name"], "\x1b[31m", "Kubernetes name"),
]


def _with(kind: str, path: list[Any], value: object) -> list[Json]:
    items: list[Json] = json.loads(json.dumps([*SCENE, *AROUND]))
    target: Any = next(o for o in items if o["kind"] == kind)
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return items


@pytest.mark.parametrize(("kind", "path", "value", "words"), WRONG)
def test_a_field_of_the_wrong_shape_is_named_with_its_line(
    tmp_path: Path, kind: str, path: list[Any], value: object, words: str
) -> None:
    error = complaint(tmp_path, yaml.safe_dump(listed(*_with(kind, path, value))))
    assert words in error.message
    assert kind in error.message
    assert error.place.rpartition(":")[2].isdigit()


def test_the_line_is_that_of_the_field_in_yaml_and_in_json(tmp_path: Path) -> None:
    items = _with("PodDisruptionBudget", ["spec", "maxUnavailable"], "half")
    for content in (yaml.safe_dump(listed(*items)), json.dumps(listed(*items), indent=1)):
        line = int(complaint(tmp_path, content).place.rpartition(":")[2])
        assert "half" in content.splitlines()[line - 1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no Kubernetes object"),
        ("---\n", "no Kubernetes object"),
        ("just text", "mapping"),
        ("[1, 2]", "mapping"),
        ("a: b", "without kind"),
        ('{"version": "0", "detail-type": "x", "detail": {}}', "EventBridge"),
        ("kind: Pod\napiVersion: v1\n", "metadata is missing"),
        ("kind: Pod\napiVersion: [v1]\n", "without kind"),
        ("kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n", "not used: ConfigMap"),
    ],
)
def test_what_is_no_cluster_is_told_what_it_is(tmp_path: Path, content: str, words: str) -> None:
    assert words in str(complaint(tmp_path, content))


def test_lists_within_lists_have_an_end(tmp_path: Path) -> None:
    nested: Json = node("spot-a")
    for _ in range(10):
        nested = listed(nested)
    assert "lists" in complaint(tmp_path, nested).message


def test_events_beside_manifests_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(node("spot-a")))
    (tmp_path / "events.json").write_text('{"version": "0", "detail-type": "x", "detail": {}}')
    assert names(read_scenario([str(tmp_path)])) == ["Node/spot-a"]


def test_standard_input_is_read_once() -> None:
    with pytest.raises(InputError, match="once"):
        read_scenario(["-", "-"])


_LEAVES = st.none() | st.booleans() | st.integers(-2, 2**33) | st.floats(allow_nan=False) | st.text(max_size=5)
_ANYTHING = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def _paths(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(path for key, child in children for path in _paths(child, (*at, key)))]


_SEEDS = [*SCENE, *stateful_set("db", ["spot-a"]), *AROUND]
_PLACES = [(i, path) for i, item in enumerate(_SEEDS) for path in _paths(item) if path]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_PLACES), _ANYTHING)
def test_any_value_anywhere_is_a_cluster_or_a_complaint(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[int, tuple[Any, ...]], value: object
) -> None:
    items: list[Json] = json.loads(json.dumps(_SEEDS))
    index, path = place
    target: Any = items[index]
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_text(json.dumps(listed(*items)))
    try:
        found = read_scenario([str(file)])
    except InputError as error:
        assert error.cure  # noqa: PT017 - a cluster is as well
        return
    assert found.objects
    for item in found.objects:
        if item["kind"] in READERS:
            READERS[item["kind"]](item)
