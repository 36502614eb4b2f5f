"""Releases by the adapter on the real control plane: what only its scheduler, quotas, policies and Services can say."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from controlplane import Api, ControlPlane
from controlplane.kinds import KINDS
from lambdas.adapters.kubernetes import KubernetesCluster
from lambdas.contract import LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import Action, Cordon, Evict, ObserveWorkloads, TakeBack
from lambdas.domain.values.answers import Done, Forbidden, Result
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.quantities import thousandths
from tests.cluster.world import ControlPlaneWorld
from tests.contract.releases import again, release, releasing, seen_by, web_on_spot
from tests.contract.steps import (
    GRACE,
    NS,
    all_ready,
    ask,
    collect,
    evict,
    mark_of,
    owned,
    pods_of,
    ref_of,
    running,
)
from tests.contract.workloads import names, on_spot
from tests.scenes import Json, apart, quota, service, times

pytestmark = pytest.mark.cluster

ZONE = "topology.kubernetes.io/zone"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices?labelSelector=kubernetes.io/service-name=web"


@pytest.fixture
def world(plane: ControlPlane, api: Api) -> Iterator[ControlPlaneWorld]:
    """The control plane."""
    world = ControlPlaneWorld(plane, api)
    yield world
    world.close()


def endpoints(api: Api) -> set[str]:
    """The pods to which the Service sends."""
    slices = api.get(SLICES)[1]["items"]
    found = [endpoint for each in slices for endpoint in each.get("endpoints") or () if endpoint["conditions"]["ready"]]
    return {endpoint["targetRef"]["name"] for endpoint in found}


def test_a_released_pod_serves_until_it_is_evicted_and_no_endpoint_is_missing(
    world: ControlPlaneWorld, api: Api
) -> None:
    world.apply(service("web", {"app": "web"}))
    old = web_on_spot(world, 2, annotations=times(1, 1))
    world.until(lambda: endpoints(api) == names(old))
    port = world.cluster()
    assert release(world, port, old[0]) == Done()
    until = time.monotonic() + 20
    while len(seen := endpoints(api)) < 3:
        assert names(old) <= seen
        assert time.monotonic() < until
    assert evict(world, port, ref_of(old[0])) == Done()
    while names(old[:1]) <= (seen := endpoints(api)):
        assert time.monotonic() < until
    assert len(seen) == 2


@contextmanager
def forbidden(api: Api, expression: str, attempt: Json) -> Iterator[None]:
    """An admission policy of the cluster's own on updates of pods, in force while `attempt` at one is refused.

    The API server takes policies up, and lets them go, a moment late: the next test must not meet this one.
    """
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods"]}]
    spec: Json = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": expression, "message": "not in this cluster"}],
    }
    head: Json = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "theirs"}}
    kind = "ValidatingAdmissionPolicy"
    api.apply({**head, "kind": kind, "spec": spec})
    api.apply({**head, "kind": f"{kind}Binding", "spec": {"policyName": "theirs", "validationActions": ["Deny"]}})
    api.until(lambda: tried(api, attempt) == 422, timedelta(seconds=20))
    yield
    api.delete(f"{KINDS[f'{kind}Binding'].collection()}/theirs")
    api.until(lambda: tried(api, attempt) == 200, timedelta(seconds=20))


def tried(api: Api, attempt: Json) -> int:
    """The status of a patch of some pod, which changes nothing."""
    name = api.items("Pod", NS)[0]["metadata"]["name"]
    return api.patch(f"/api/v1/namespaces/{NS}/pods/{name}?dryRun=All", attempt)[0]


def sent(port: Any) -> int:
    """Patches of pods."""
    assert isinstance(port, KubernetesCluster)
    return port.server.sent["patch", "pods"]


def test_d21_a_policy_against_ownerless_pods_refuses_one_patch_and_nothing_is_changed(
    world: ControlPlaneWorld, api: Api
) -> None:
    old = web_on_spot(world, 2)
    port = world.cluster()
    before = again(world, old[0])["metadata"]["resourceVersion"]
    with forbidden(api, "has(object.metadata.ownerReferences)", {"metadata": {"ownerReferences": None}}):
        answer = release(world, port, old[0])
        assert isinstance(answer, Forbidden)
        assert "not in this cluster" in answer.message
        assert sent(port) == 1
        assert again(world, old[0])["metadata"]["resourceVersion"] == before
        world.patch("Deployment", NS, "web", {"spec": {"replicas": 4}})
        all_ready(world, "web", 4)


def test_a_policy_that_refuses_the_undo_is_met_once_and_the_pod_stays_released(
    world: ControlPlaneWorld, api: Api
) -> None:
    [old] = web_on_spot(world)
    port = world.cluster()
    assert release(world, port, old) == Done()
    key = f"'{LABEL_RELEASED}' in object.metadata.labels && object.metadata.labels['{LABEL_RELEASED}'] == 'returned'"
    with forbidden(api, f"!({key})", {"metadata": {"labels": {LABEL_RELEASED: "returned"}}}):
        released = sent(port)
        answer = ask(world, port, TakeBack(ref_of(old)))
        assert isinstance(answer, Forbidden)
        assert "not in this cluster" in answer.message
        assert sent(port) == released + 1
        assert again(world, old)["metadata"]["labels"][LABEL_RELEASED] == "true"


def test_of_two_who_release_the_same_pod_one_does_and_the_other_is_told_that_it_has_changed(
    world: ControlPlaneWorld,
) -> None:
    [old] = web_on_spot(world)
    ports = [world.cluster(), world.cluster()]
    for port in ports:
        seen_by(world, port)
    asked = releasing(world, old)
    results: list[Result] = []
    for port in ports:
        port.start(asked)
    for port in ports:
        while not (answers := port.wait(world.clock.now() + timedelta(seconds=20))):
            pass
        results += [answer.result for answer in answers]
    assert sorted(type(result).__name__ for result in results) == ["Conflict", "Done"]
    world.until(lambda: len(pods_of(world, "web")) == 2)


def test_a_pod_that_goes_on_being_changed_by_others_is_released_and_given_back_all_the_same(
    world: ControlPlaneWorld,
) -> None:
    [old] = web_on_spot(world)
    port, name = world.cluster(), old["metadata"]["name"]
    seen_by(world, port)
    asked = releasing(world, old)
    world.patch("Pod", NS, name, {"metadata": {"annotations": {"note": "1"}, "labels": {"note": "1"}}})
    assert ask(world, port, asked) == Done()
    world.patch("Pod", NS, name, {"metadata": {"annotations": {"note": "2"}, "labels": {"note": None}}})
    assert ask(world, port, TakeBack(ref_of(old))) == Done()
    world.until(lambda: again(world, old)["metadata"].get("ownerReferences"))


def test_anti_affinity_by_the_hash_keeps_the_replacement_out_of_the_old_pods_zone_too(
    world: ControlPlaneWorld,
) -> None:
    affinity = apart({"app": "web"})
    [term] = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    term["matchLabelKeys"] = [LABEL_TEMPLATE_HASH]
    [old] = on_spot(world, owned("Deployment", "web", 1, affinity=affinity), 1)
    assert read_pod(old).apart_by == ZONE
    port = world.cluster()
    assert release(world, port, old) == Done()
    assert "existing pods anti-affinity" in world.until(lambda: _why_unplaced(world))


def _why_unplaced(world: ControlPlaneWorld) -> str:
    """The scheduler's words. (That of 1.34 overlooks the pod for minutes even when the old one is gone.)"""
    conditions = (c for pod in pods_of(world, "web") for c in pod["status"].get("conditions") or ())
    return next((str(c["message"]) for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False"), "")


def test_what_a_quota_is_believed_to_charge_is_what_it_charges(world: ControlPlaneWorld) -> None:
    hard = {f"{field}.{name}": "100Gi" for field in ("requests", "limits") for name in ("cpu", "memory")}
    hard |= dict.fromkeys(("hugepages-2Mi", "requests.hugepages-2Mi"), "100Mi")
    world.apply(quota("all", {}, pods="10", **{"count/pods": "10"}, **hard))
    asks = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "3Gi"}}
    container = {"name": "c", "image": "x", "resources": asks}
    sidecar = {**container, "name": "s", "restartPolicy": "Always"}
    large = {**container, "name": "i", "resources": {"limits": {"cpu": "5", "memory": "5Gi"}}}
    huge = {"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi"}
    whole = {"requests": {"cpu": "7"}, "limits": {"cpu": "9", "memory": "50Gi"}}
    world.until(lambda: _used(world))
    for name, spec in {
        "plain": {"containers": [container, {**container, "name": "d"}]},
        "init": {"containers": [container], "initContainers": [large, sidecar]},
        "sidecar": {"containers": [container], "initContainers": [sidecar, large]},
        "whole": {"containers": [container], "resources": whole},
        "huge": {"containers": [{**container, "resources": {"requests": huge, "limits": huge}}]},
    }.items():
        before = _used(world)
        pod = world.apply(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NS}, "spec": spec}
        )
        charge = {key: amount for key, amount in read_pod(pod).cost.items() if key in before}
        world.until(partial(_has_changed, world, before))
        assert charge == {key: amount - before[key] for key, amount in _used(world).items() if amount != before[key]}, (
            name
        )


def _has_changed(world: ControlPlaneWorld, before: dict[str, int]) -> bool:
    return _used(world) != before


def _used(world: ControlPlaneWorld) -> dict[str, int]:
    used = ((world.get("ResourceQuota", NS, "all") or {}).get("status") or {}).get("used") or {}
    return {name: thousandths(amount) for name, amount in used.items()}


def test_reading_twenty_namespaces_keeps_neither_a_cordon_nor_an_eviction_waiting(
    world: ControlPlaneWorld,
) -> None:
    spaces = [f"shop-{i}" for i in range(20)]
    for name in spaces:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        made = owned("Deployment", "api", 1)
        made["metadata"]["namespace"] = name
        world.apply(made)
    pod = running(world)
    port = world.cluster()
    began = world.clock.now()
    asked: list[Action] = [*map(ObserveWorkloads, spaces), Cordon("spot-a", mark_of(world)), Evict(pod, GRACE)]
    answers = {answer.action: answer for answer in collect(world, port, *asked)}
    assert {answer.result for answer in answers.values()} == {Done()}
    took = {type(action).__name__: (answer.at - began).total_seconds() for action, answer in answers.items()}
    assert max(took["Cordon"], took["Evict"]) < 1
    assert took["ObserveWorkloads"] < 5
    assert world.requests_of(port) <= 20 * 10 + 3
    assert isinstance(port, KubernetesCluster)
    assert len(port._watching.threads) <= 20 * 3
