"""What is observed of a namespace before anything is released in it, and of the nodes that carry our mark."""

from datetime import timedelta
from typing import Any

from lambdas.domain.values.actions import Cordon, ObserveWorkloads, Restore
from lambdas.domain.values.answers import Done
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from tests.contract.releases import release, seen_by, web_on_spot
from tests.contract.returning import quota
from tests.contract.steps import NS, QUICK, all_ready, ask, mark_of, owned, running, view, watch_until
from tests.contract.workloads import names
from tests.contract.world import Json, World
from tests.scenes import bare, node

OTHER = "elsewhere"


def test_a_namespace_is_not_observed_before_releases_are_thought_of(world: World) -> None:
    running(world)
    port = world.cluster()
    view(world, port)
    assert port.observe().namespaces == {}


def test_the_workloads_that_decide_about_releases_are_observed(world: World) -> None:
    pods = web_on_spot(world, 2)
    world.apply(bare("bare", "spot-a", annotations=QUICK))
    seen = seen_by(world, world.cluster())
    assert all(freshness is Freshness.CURRENT for freshness in _freshness(seen))
    assert {pod.ref.name for pod in seen.pods.items} == names(pods)
    [deployment] = seen.deployments.items
    [replica_set] = seen.replica_sets.items
    assert (deployment.name, deployment.replicas, deployment.max_surge) == ("web", 2, 1)
    assert replica_set.owner
    assert (replica_set.owner.uid, replica_set.revision) == (deployment.uid, deployment.revision)
    assert {pod.owner.uid for pod in seen.pods.items if pod.owner} == {replica_set.uid}


def _freshness(seen: NamespaceView) -> list[Freshness]:
    listings: list[Listing[Any]] = [
        seen.pods,
        seen.deployments,
        seen.replica_sets,
        seen.quotas,
        seen.autoscalers,
        seen.claims,
    ]
    return [listing.freshness for listing in [*listings, *seen.selecting.values()]]


def test_what_may_forbid_releases_is_listed(world: World) -> None:
    world.apply(node("spot-a"))
    for kind in ("DaemonSet", "ReplicationController"):
        world.apply(owned(kind, kind.lower(), replicas=0 if kind == "ReplicationController" else None))
    world.apply(owned("Job", "job", spec={"suspend": True}, restartPolicy="Never"))
    for made in (network_policy(), claim(), autoscaler()):
        world.apply(made)
    seen = seen_by(world, world.cluster())
    found = {resource: [s.name for s in listing.items] for resource, listing in seen.selecting.items()}
    assert found == {
        "daemonsets": ["daemonset"],
        "jobs": ["job"],
        "replicationcontrollers": ["replicationcontroller"],
        "networkpolicies": ["front"],
    }
    adopting = {s.kind: s.adopts for listing in seen.selecting.values() for s in listing.items}
    assert adopting == {"DaemonSet": True, "Job": True, "ReplicationController": True, "NetworkPolicy": False}
    [policy] = seen.selecting["networkpolicies"].items
    assert policy.selector.matches({"app": "web"})
    assert [(c.name, c.is_shared) for c in seen.claims.items] == [("data", False)]
    [scaler] = seen.autoscalers.items
    assert (scaler.target_kind, scaler.target_name) == ("Deployment", "web")
    assert scaler.scale_down_window == timedelta(seconds=60)


def test_what_quotas_leave_for_the_replacements_of_released_pods_is_listed(world: World) -> None:
    web_on_spot(world, 2)
    world.apply(quota("5"))
    world.until(lambda: _used(world) == "2")
    [seen] = seen_by(world, world.cluster()).quotas.items
    assert seen.name == "few"
    assert seen.left == {"pods": 3000}


def _used(world: World) -> str:
    status = (world.get("ResourceQuota", NS, "few") or {}).get("status") or {}
    return str((status.get("used") or {}).get("pods"))


def test_deployments_replica_sets_and_pods_are_kept_current_for_releases(world: World) -> None:
    web_on_spot(world, 1)
    port = world.cluster()
    seen_by(world, port)
    sent = world.requests_of(port)
    world.patch("Deployment", NS, "web", {"spec": {"replicas": 3}})
    watch_until(world, port, lambda o: [d.replicas for d in o.namespaces[NS].deployments.items] == [3])
    watch_until(world, port, lambda o: [r.replicas for r in o.namespaces[NS].replica_sets.items] == [3])
    watch_until(world, port, lambda o: len([p for p in o.namespaces[NS].pods.items if p.ready]) == 3)
    world.delete("Deployment", NS, "web")
    watch_until(world, port, lambda o: _is_empty(o.namespaces[NS]))
    assert world.requests_of(port) == sent


def _is_empty(seen: NamespaceView) -> bool:
    return not (seen.deployments.items or seen.replica_sets.items or seen.pods.items)


def test_a_replica_set_that_cannot_replace_a_released_pod_is_seen_to_fail(world: World) -> None:
    [old] = web_on_spot(world, 1)
    world.apply(quota("1"))
    world.until(lambda: _used(world) == "1")
    port = world.cluster()
    assert release(world, port, old) == Done()
    failing = watch_until(world, port, lambda o: [r.failure for r in o.namespaces[NS].replica_sets.items if r.failure])
    assert "few" in failing[0]


def test_releases_see_only_the_namespaces_that_were_asked_for(world: World) -> None:
    world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER}})
    web_on_spot(world, 1)
    elsewhere = owned("Deployment", "api", 1)
    elsewhere["metadata"]["namespace"] = OTHER
    world.apply(elsewhere)
    all_ready(world, "api", 1)
    port = world.cluster()
    assert [d.name for d in seen_by(world, port).deployments.items] == ["web"]
    assert set(port.observe().namespaces) == {NS}
    assert ask(world, port, ObserveWorkloads(OTHER)) == Done()
    assert [d.name for d in port.observe().namespaces[OTHER].deployments.items] == ["api"]
    assert [d.name for d in port.observe().namespaces[NS].deployments.items] == ["web"]


def test_observing_a_namespace_of_releases_again_lists_its_quotas_again(world: World) -> None:
    world.apply(node("spot-a"))
    port = world.cluster()
    assert not seen_by(world, port).quotas.items
    world.apply(quota("5"))
    world.until(lambda: _used(world) == "0")
    assert [q.left for q in seen_by(world, port).quotas.items] == [{"pods": 5000}]


def test_nodes_that_carry_our_mark_are_observed_for_releases_all_over_the_cluster(world: World) -> None:
    for name in ("spot-a", "spot-b"):
        world.apply(node(name))
    port, other = world.cluster(), world.cluster()
    view(world, port)
    watch_until(world, port, lambda o: o.marked.freshness is Freshness.CURRENT)
    assert port.observe().marked.items == ()
    assert ask(world, other, Cordon("spot-b", mark_of(world, "spot-b"))) == Done()
    watch_until(world, port, lambda o: [n.name for n in o.marked.items] == ["spot-b"])
    assert ask(world, other, Restore("spot-b")) == Done()
    watch_until(world, port, lambda o: not o.marked.items)


def network_policy() -> Json:
    spec = {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"]}
    metadata = {"name": "front", "namespace": NS}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def claim() -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": NS}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def autoscaler() -> Json:
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 9,
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
    }
    metadata = {"name": "web", "namespace": NS}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}
