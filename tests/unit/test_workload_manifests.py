"""Reading what decides about releases: Deployments, ReplicaSets, and all that may forbid one."""

from datetime import timedelta
from typing import Any

import pytest

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.workload_manifests import (
    read_autoscaler,
    read_claim,
    read_daemon_set,
    read_deployment,
    read_job,
    read_network_policy,
    read_quota,
    read_replica_set,
    read_replication_controller,
)

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}
HASHED = {**WEB, LABEL_TEMPLATE_HASH: "5d4"}


def item(spec: Json | None = None, status: Json | None = None, **metadata: Any) -> Json:
    return {"metadata": {"name": "web", "namespace": "shop", "uid": "u", **metadata}, "spec": spec, "status": status}


def scoped(name: str, operator: str, values: list[str] | None = None) -> Json:
    return {"scopeSelector": {"matchExpressions": [{"scopeName": name, "operator": operator, "values": values}]}}


@pytest.mark.parametrize(
    ("strategy", "replicas", "surge"),
    [
        (None, 40, 10),
        ({"type": "RollingUpdate"}, 40, 10),
        ({"rollingUpdate": {"maxSurge": "25%"}}, 3, 1),
        ({"rollingUpdate": {"maxSurge": "100%"}}, 3, 3),
        ({"rollingUpdate": {"maxSurge": "1%"}}, 1, 1),
        ({"rollingUpdate": {"maxSurge": "25%"}}, 0, 0),
        ({"rollingUpdate": {"maxSurge": "0%"}}, 40, 0),
        ({"rollingUpdate": {"maxSurge": 0}}, 40, 0),
        ({"rollingUpdate": {"maxSurge": 7}}, 2, 7),
        ({"rollingUpdate": None}, 4, 1),
        ({"type": "Recreate"}, 40, 0),
        ({"type": "Recreate", "rollingUpdate": {"maxSurge": 3}}, 40, 0),
    ],
)
def test_the_surge_is_in_pods_and_rounds_up(strategy: Json | None, replicas: int, surge: int) -> None:
    read = read_deployment(item({"replicas": replicas, "strategy": strategy}))
    assert read.max_surge == surge
    assert read.is_rolling_update is ((strategy or {}).get("type") != "Recreate")


def test_a_deployment_of_nothing_but_a_name_has_the_apis_defaults() -> None:
    read = read_deployment({"metadata": {"name": "web"}})
    assert (read.namespace, read.replicas, read.max_surge, read.min_ready) == ("default", 1, 1, timedelta())
    assert (read.revision, read.annotations, read.is_being_deleted) == ("", {}, False)


def test_a_deployment_tells_its_revision_its_patience_and_its_end() -> None:
    metadata: Json = {
        "annotations": {"deployment.kubernetes.io/revision": "7"},
        "deletionTimestamp": "2026-11-02T03:04:05Z",
    }
    read = read_deployment(item({"replicas": 0, "minReadySeconds": 20}, **metadata))
    assert (read.revision, read.min_ready, read.is_being_deleted) == ("7", timedelta(seconds=20), True)
    assert read.replicas == 0


def test_an_absurd_min_ready_is_a_day() -> None:
    assert read_deployment(item({"minReadySeconds": 2**31 - 1})).min_ready == timedelta(days=1)


def test_a_replica_set_tells_its_owner_and_whether_it_fails() -> None:
    owner = {"kind": "Deployment", "name": "web", "uid": "d", "apiVersion": "apps/v1", "controller": True}
    failing = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: few"}
    spec = {"selector": {"matchLabels": HASHED}}
    read = read_replica_set(item(spec, {"conditions": [failing]}, ownerReferences=[owner]))
    assert read.owner
    assert (read.owner.uid, read.failure, read.replicas) == ("d", "exceeded quota: few", 1)
    assert read.selector.matches(HASHED)
    assert not read.selector.matches({**WEB, LABEL_TEMPLATE_HASH: "released-5d4"})


@pytest.mark.parametrize(
    ("conditions", "failure"),
    [
        (None, ""),
        ([{"type": "ReplicaFailure", "status": "False", "message": "over"}], ""),
        ([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}], "FailedCreate"),
        ([{"type": "ReplicaFailure", "status": "True"}], "ReplicaFailure"),
    ],
)
def test_a_failure_of_a_replica_set_counts_while_it_is_true(conditions: Any, failure: str) -> None:
    assert read_replica_set(item({}, {"conditions": conditions})).failure == failure


@pytest.mark.parametrize("read", [read_daemon_set, read_job])
def test_daemon_sets_and_jobs_adopt_what_they_select(read: Any) -> None:
    seen = read(item({"selector": {"matchLabels": WEB}}))
    assert seen.adopts
    assert seen.selector.matches(HASHED)
    assert not read(item({})).selector.matches(HASHED)


def test_a_replication_controller_without_a_selector_selects_by_its_template() -> None:
    of_template = {"template": {"metadata": {"labels": WEB}}}
    assert read_replication_controller(item(of_template)).selector.matches(HASHED)
    assert not read_replication_controller(item({"selector": {"app": "api"}, **of_template})).selector.matches(HASHED)
    assert not read_replication_controller(item({})).selector.matches(HASHED)
    assert read_replication_controller(item({})).adopts


@pytest.mark.parametrize("spec", [{"podSelector": {}}, {"podSelector": None}, {}])
def test_a_network_policy_that_names_no_pods_is_about_all(spec: Json) -> None:
    read = read_network_policy(item(spec))
    assert read.selector.matches(WEB)
    assert not read.adopts


def test_the_peers_of_a_network_policy_are_its_further_selectors() -> None:
    by_hash = {"podSelector": {"matchLabels": {LABEL_TEMPLATE_HASH: "5d4"}}}
    outside = {"ipBlock": {"cidr": "10.0.0.0/8"}}
    spec = {
        "podSelector": {"matchLabels": {"app": "api"}},
        "ingress": [{"from": [by_hash, outside]}, {"from": None}, {}],
        "egress": [{"to": [by_hash]}],
    }
    read = read_network_policy(item(spec))
    assert [s.matches(HASHED) for s in read.other_selectors] == [True, True]
    assert not read.selector.matches(HASHED)


def test_a_quota_tells_what_is_left_of_what_its_controller_has_counted() -> None:
    status = {"hard": {"pods": "10", "requests.cpu": "2"}, "used": {"pods": "7", "requests.cpu": "1500m"}}
    read = read_quota(item({"hard": {"pods": "99"}}, status))
    assert read.left == {"pods": 3000, "requests.cpu": 500}


def test_a_quota_that_nobody_has_counted_yet_has_all_of_it_left_and_an_exceeded_one_less_than_nothing() -> None:
    assert read_quota(item({"hard": {"pods": "9"}})).left == {"pods": 9000}
    assert read_quota(item({}, {"hard": {"pods": "2"}, "used": {"pods": "3"}})).left == {"pods": -1000}


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ({}, True),
        ({"scopes": ["NotTerminating"]}, True),
        (scoped("PriorityClass", "In", ["high"]), False),
        (scoped("PriorityClass", "In", ["low"]), True),
        (scoped("PriorityClass", "Exists"), True),
        (scoped("BestEffort", "Exists"), True),
        ({"scopes": ["Terminating"]}, False),
        (scoped("Terminating", "Exists"), False),
    ],
)
def test_a_quota_of_other_priority_classes_or_of_pods_that_end_by_themselves_does_not_count_the_pod(
    spec: Json, counts: bool
) -> None:
    pod = read_pod(item({"priorityClassName": "low"}))
    assert read_quota(item(spec)).counts(pod) is counts


@pytest.mark.parametrize(
    ("behavior", "seconds"),
    [
        (None, 300),
        ({"scaleUp": {}}, 300),
        ({"scaleDown": {"policies": []}}, 300),
        ({"scaleDown": {"stabilizationWindowSeconds": 0}}, 0),
        ({"scaleDown": {"stabilizationWindowSeconds": 60}}, 60),
    ],
)
def test_an_autoscaler_looks_back_five_minutes_unless_it_says_otherwise(behavior: Any, seconds: int) -> None:
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "behavior": behavior}
    read = read_autoscaler(item(spec))
    assert (read.target_kind, read.target_name) == ("Deployment", "web")
    assert read.scale_down_window == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("modes", "is_shared"),
    [
        (None, False),
        (["ReadWriteOnce"], False),
        (["ReadWriteOncePod"], False),
        (["ReadWriteMany"], True),
        (["ReadOnlyMany"], True),
        (["ReadWriteOnce", "ReadWriteMany"], True),
    ],
)
def test_a_claim_is_shared_where_several_nodes_may_mount_it(modes: list[str] | None, is_shared: bool) -> None:
    assert read_claim(item({"accessModes": modes})).is_shared is is_shared


def pod(**spec: Any) -> Pod:
    return read_pod(item(spec, labels=HASHED))


def apart(by: str = ZONE, **selector: Any) -> Json:
    term = {"topologyKey": by, "labelSelector": selector or {"matchLabels": WEB}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_required_anti_affinity_to_its_own_labels_keeps_its_replacement_away() -> None:
    assert pod(affinity=apart()).apart_by == ZONE
    assert pod(affinity=apart("kubernetes.io/hostname")).apart_by == ""
    assert pod(affinity=apart(matchLabels={"app": "api"})).apart_by == ""


def test_anti_affinity_by_the_hash_does_too_as_the_old_pods_term_holds_against_the_replacement() -> None:
    """matchLabelKeys become such a term (core/v1 PodAffinityTerm): an existing pod's is honoured for a new one."""
    by_hash = {"key": LABEL_TEMPLATE_HASH, "operator": "In", "values": ["5d4"]}
    assert pod(affinity=apart(matchLabels=WEB, matchExpressions=[by_hash])).apart_by == ZONE


def test_preferred_anti_affinity_keeps_nobody_away() -> None:
    term = {"weight": 1, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": {"matchLabels": WEB}}}
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert pod(affinity=affinity).apart_by == ""


@pytest.mark.parametrize(
    ("constraint", "by"),
    [
        ({}, ZONE),
        ({"whenUnsatisfiable": "ScheduleAnyway"}, ""),
        ({"topologyKey": "kubernetes.io/hostname"}, ""),
        ({"matchLabelKeys": [LABEL_TEMPLATE_HASH]}, ""),
        ({"labelSelector": {"matchLabels": {"app": "api"}}}, ""),
        ({"labelSelector": {"matchLabels": HASHED}}, ""),
    ],
)
def test_a_strict_spread_by_zone_counts_the_released_pod_unless_it_looks_at_the_hash(constraint: Json, by: str) -> None:
    whole = {"topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": WEB}}
    assert pod(topologySpreadConstraints=[{**whole, **constraint}]).spread_by == by


def test_a_pod_is_scheduled_from_when_it_was_placed_and_not_from_when_that_failed() -> None:
    condition = {"type": "PodScheduled", "status": "False", "lastTransitionTime": "2026-11-02T03:04:05Z"}
    assert read_pod(item({}, {"conditions": [condition]})).scheduled_at is None
    assert read_pod(item({}, {"conditions": [{**condition, "status": "True"}]})).scheduled_at is not None


def test_a_pod_of_several_owners_says_so_whoever_of_them_controls_it() -> None:
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "a", "apiVersion": "apps/v1", "controller": True}
    one, two = (item({}, ownerReferences=owners) for owners in ([owner], [owner, {**owner, "controller": False}]))
    assert [read_pod(i).is_owned_by_several for i in (item({}), one, two)] == [False, False, True]
