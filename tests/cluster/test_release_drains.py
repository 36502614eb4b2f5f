"""Replace, then evict, on the real control plane: the cases that it decides better than any simulator could."""

import time
from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest

from controlplane import Api, ControlPlane
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_RELEASED
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.cluster.drains import Drained, budget_is, drained, is_ready, pods, ready_counts, settle, without_pods
from tests.cluster.rig import grant
from tests.scenes import Json, apart, budget, claim, daemon_set, deployment, node, quota, service, times

pytestmark = pytest.mark.cluster

ONE = budget("web", {"app": "web"}, maxUnavailable=1)
DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/web"


@pytest.fixture(autouse=True)
def spot(api: Api) -> None:
    """The function's rights, its guard, and the node that will go."""
    grant(api)
    api.apply(node("spot-a"))


def made(api: Api, on_spot: int, elsewhere: int = 0, *, startup: float = 3, shutdown: float = 1, **of: Any) -> None:
    """So many pods of one Deployment on the node, and the rest on another that has room for more."""
    objects = without_pods(deployment("web", {"spot-a": on_spot}, annotations=times(startup, shutdown), **of))
    settle(api, objects, ready=on_spot)
    api.apply(node("od-1"))
    if elsewhere:
        api.patch("/api/v1/nodes/spot-a", {"spec": {"unschedulable": True}})
        api.patch(DEPLOYMENT, {"spec": {"replicas": on_spot + elsewhere}})
        api.until(lambda: ready_of(api) == on_spot + elsewhere, timedelta(seconds=60))
        api.patch("/api/v1/nodes/spot-a", {"spec": {"unschedulable": False}})
    settle(api, [ONE])
    budget_is(api, "web", expectedPods=on_spot + elsewhere, currentHealthy=on_spot + elsewhere)


def ready_of(api: Api) -> int:
    """Ready pods of the application, released ones included."""
    return len([p for p in pods(api, "app=web") if is_ready(p) and "deletionTimestamp" not in p["metadata"]])


def later(seconds: float, act: Callable[[], Any]) -> Thread:
    """Something that happens in mid-drain."""

    def run() -> None:
        time.sleep(seconds)
        act()

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread


def released(result: Drained) -> list[str]:
    """Pods that were."""
    return [fate.pod.name for fate in result.record.pods if fate.released_at]


def reasons(result: Drained) -> set[str]:
    """Why pods were not."""
    return {fate.not_released for fate in result.record.pods if fate.not_released}


def nothing_is_left(api: Api) -> bool:
    """No released pod, nor anything of ours on one."""
    found = pods(api)
    return not [p for p in found if LABEL_RELEASED in (p["metadata"].get("labels") or {})] and not [
        p for p in found if ANNOTATION_RELEASED_FROM in (p["metadata"].get("annotations") or {})
    ]


def test_d1_every_pod_is_replaced_before_it_goes(plane: ControlPlane, api: Api) -> None:
    made(api, 12, 4)
    with ready_counts(api, "app=web") as counts:
        result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert len(released(result)) == 12
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}
    assert min(counts) >= 16
    assert all(fate.replaced_at for fate in result.record.pods)
    assert nothing_is_left(api)


def test_all_at_once_takes_the_time_of_one_replacement(plane: ControlPlane, api: Api) -> None:
    made(api, 12, 4)
    with ready_counts(api, "app=web") as counts:
        result = drained(plane, settings=Settings(release=ReleaseMode.ALL))
    assert min(counts) >= 16
    assert result.record.ended_at
    assert (result.record.ended_at - result.noticed_at).total_seconds() < 12


def test_d6_a_single_replica_behind_min_available_1_is_never_missing(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 1}, annotations=times(2, 1))), ready=1)
    settle(api, [budget("web", {"app": "web"}, minAvailable=1)])
    budget_is(api, "web", currentHealthy=1)
    api.apply(node("od-1"))
    with ready_counts(api, "app=web") as counts:
        result = drained(plane)
    assert min(counts) >= 1
    assert [fate.departure for fate in result.record.pods] == [Departure.EVICTED]


def test_d2_where_there_is_no_room_all_ask_for_it_within_five_seconds(plane: ControlPlane, api: Api) -> None:
    settle(api, without_pods(deployment("web", {"spot-a": 8}, annotations=times(2, 1))), ready=8)
    settle(api, [ONE])
    budget_is(api, "web", currentHealthy=8)
    later(8, lambda: api.apply(node("od-1")))
    with ready_counts(api, "app=web") as counts:
        result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert max((f.released_at - result.noticed_at).total_seconds() for f in result.record.pods if f.released_at) < 6
    assert min(counts) >= 8


def test_d22_scaled_to_nothing_no_released_pod_is_left_serving(plane: ControlPlane, api: Api) -> None:
    made(api, 8, 2, startup=6)
    later(3, lambda: api.patch(DEPLOYMENT, {"spec": {"replicas": 0}}))
    result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert max(result.signalled().values()) < 8
    api.until(lambda: pods(api) == [], timedelta(seconds=20))


def test_a_deployment_that_is_deleted_leaves_no_released_pod(plane: ControlPlane, api: Api) -> None:
    made(api, 6, 2, startup=6)
    later(3, lambda: api.delete(DEPLOYMENT, {"propagationPolicy": "Background"}))
    result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert max(result.signalled().values()) < 10
    api.until(lambda: pods(api) == [], timedelta(seconds=20))


def test_d30_a_rollout_in_mid_drain_loses_nothing_and_leaves_one_version(plane: ControlPlane, api: Api) -> None:
    made(api, 8, 2)
    change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
    later(2, lambda: api.patch(DEPLOYMENT, change))
    with ready_counts(api, "app=web") as counts:
        result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert min(counts) >= 7  # what maxUnavailable 25 % of 10 lets the rollout itself take
    api.until(lambda: _versions(api) == {"2"} and len(pods(api)) == 10, timedelta(seconds=60))
    assert nothing_is_left(api)


def _versions(api: Api) -> set[str]:
    return {(p["metadata"].get("annotations") or {}).get("version", "1") for p in pods(api, "app=web")}


def test_d20_a_daemon_set_that_would_adopt_it_is_named_and_adopts_nothing(plane: ControlPlane, api: Api) -> None:
    api.apply(daemon_set("greedy", {"app": "web"}))
    made(api, 4, 2, startup=1)
    result = drained(plane)
    assert released(result) == []
    assert reasons(result) == {"DaemonSet default/greedy would adopt it"}
    assert result.record.ending is Ending.DRAINED
    assert "DaemonSet" not in {o["kind"] for p in pods(api) for o in p["metadata"].get("ownerReferences", ())}


def test_d18_a_service_that_selects_by_the_hash_is_named(plane: ControlPlane, api: Api) -> None:
    made(api, 3, 2, startup=1)
    [first, *_] = pods(api, "app=web")
    template_hash = first["metadata"]["labels"]["pod-template-hash"]
    api.apply(service("pinned", {"app": "web", "pod-template-hash": template_hash}))
    result = drained(plane)
    assert reasons(result) == {"Service default/pinned selects by pod-template-hash"}
    assert result.record.ending is Ending.DRAINED


def test_d16_a_volume_of_one_node_is_named(plane: ControlPlane, api: Api) -> None:
    api.apply(claim("data"))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = without_pods(deployment("web", {"spot-a": 1}, annotations=times(1, 1), volumes=volumes))
    for thing in objects:
        api.apply(thing)
    _bind(api, "data")
    api.until(lambda: ready_of(api) == 1, timedelta(seconds=30))
    result = drained(plane)
    assert reasons(result) == {"its volume data cannot be on two nodes"}
    assert next(iter(result.signalled().values())) < 1.5


def _bind(api: Api, name: str) -> None:
    """A volume for the claim, as a provisioner would make it."""
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{name}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/tmp/x"},  # noqa: S108 - nobody mounts it
                "claimRef": {"namespace": "default", "name": name},
            },
        }
    )


def test_d17_a_full_quota_is_named_and_pods_leave_by_their_budget(plane: ControlPlane, api: Api) -> None:
    api.apply({k: v for k, v in quota("full", {}, pods="5").items() if k != "status"})
    made(api, 5, startup=1)
    result = drained(plane)
    assert released(result) == []
    assert reasons(result) == {"ResourceQuota default/full has no room for its replacement (pods)"}
    assert result.record.ending is Ending.DRAINED
    api.until(lambda: ready_of(api) == 5, timedelta(seconds=30))


def test_d24_anti_affinity_to_itself_by_zone_is_named(plane: ControlPlane, api: Api) -> None:
    made(api, 1, startup=1, affinity=apart({"app": "web"}))
    result = drained(plane)
    [reason] = reasons(result)
    assert "anti-affinity keeps the replacement out of its topology.kubernetes.io/zone" in reason
    assert next(iter(result.signalled().values())) < 1.5


def test_d21_a_policy_against_ownerless_pods_is_met_once_and_nothing_is_changed(plane: ControlPlane, api: Api) -> None:
    made(api, 4, 2, startup=1)
    _forbid_ownerless(api)
    result = drained(plane)
    assert released(result) == []
    [reason] = reasons(result)
    assert "admission policy" in reason or "may not patch pods" in reason
    assert result.record.ending is Ending.DRAINED
    api.patch(DEPLOYMENT, {"spec": {"replicas": 9}})
    api.until(lambda: ready_of(api) == 9, timedelta(seconds=30))


def _forbid_ownerless(api: Api) -> None:
    """As clusters have it that want every pod to have an owner."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods"]}]
    spec: Json = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": "has(object.metadata.ownerReferences)", "message": "every pod has an owner"}],
    }
    kind = "ValidatingAdmissionPolicy"
    head: Json = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "no-orphans"}}
    api.apply({**head, "kind": kind, "spec": spec})
    api.apply({**head, "kind": f"{kind}Binding", "spec": {"policyName": "no-orphans", "validationActions": ["Deny"]}})
    [pod, *_] = pods(api, "app=web")
    path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}?dryRun=All"
    api.until(lambda: api.patch(path, {"metadata": {"ownerReferences": None}})[0] >= 400, timedelta(seconds=20))


def test_without_the_guard_nothing_is_released_and_the_cure_is_named(plane: ControlPlane, api: Api) -> None:
    made(api, 3, 2, startup=1)
    base = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    api.delete(f"{base}/spot-evac-handler-pods", {})
    result = drained(plane)
    assert released(result) == []
    [reason] = reasons(result)
    assert "evac rbac" in reason
    assert result.record.ending is Ending.DRAINED


def test_from_a_replacement_to_the_eviction_that_waited_for_it_it_takes_moments(plane: ControlPlane, api: Api) -> None:
    made(api, 4, 2, startup=2)
    moments: dict[str, float] = {}

    def watch() -> None:
        until = time.time() + 30
        while time.time() < until and len(moments) < 1:
            fresh = [p for p in pods(api, "app=web") if p["spec"].get("nodeName") == "od-1" and is_ready(p)]
            if len(fresh) > 2:
                moments["ready"] = time.time()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    result = drained(plane)
    thread.join()
    first = min(result.signalled().values()) + result.noticed_at.timestamp()
    assert first - moments["ready"] < 1
