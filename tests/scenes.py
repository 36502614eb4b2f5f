"""Scenes as ordinary Kubernetes manifests: what `kubectl get … -o json` would print of a small cluster."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

NOTICE = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
LONG_AGO = "2026-11-02T01:00:00Z"
STARTUP = "replay.spot-evac.dev/startup"
SHUTDOWN = "replay.spot-evac.dev/shutdown"
READY = "replay.spot-evac.dev/ready"
COMPLETES = "replay.spot-evac.dev/completes"


def at(seconds: float) -> datetime:
    """So many seconds after the notice."""
    return NOTICE + timedelta(seconds=seconds)


def instance_id(name: str) -> str:
    """An instance id that is the node name's own."""
    return "i-" + name.encode().hex().ljust(17, "0")[:17]


def node(name: str, *, pods: int = 110, labels: Mapping[str, str] | None = None, **spec: Any) -> Json:
    """A Ready node with room for `pods` pods."""
    size = {"cpu": "64", "memory": "256Gi", "pods": str(pods)}
    spec.setdefault("providerID", f"aws:///eu-west-1b/{instance_id(name)}")
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "eu-west-1b", **(labels or {})},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": spec,
        "status": {
            "capacity": size,
            "allocatable": size,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}],
        },
    }


def times(
    startup: float = 10, shutdown: float = 2, *, ready: bool = True, completes: float | None = None
) -> dict[str, str]:
    """The annotations that tell kubelets how long a pod takes."""
    found = {STARTUP: f"{startup}s", SHUTDOWN: f"{shutdown}s"}
    if not ready:
        found[READY] = "false"
    if completes is not None:
        found[COMPLETES] = f"{completes}s"
    return found


def template(
    labels: Mapping[str, str], *, grace: int = 30, annotations: Mapping[str, str] | None = None, **spec: Any
) -> Json:
    """A pod template."""
    containers = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "100m"}}}]
    return {
        "metadata": {"labels": dict(labels), "annotations": dict(annotations or times())},
        "spec": {"terminationGracePeriodSeconds": grace, "containers": containers, **spec},
    }


def pod(name: str, node_name: str, of: Json, *, owner: Json | None = None, ready: bool = True) -> Json:
    """A running pod of a template, as the API shows it; Ready its start-up time after it was scheduled."""
    metadata: Json = {
        "name": name,
        "namespace": "default",
        "creationTimestamp": LONG_AGO,
        "labels": dict(of["metadata"]["labels"]),
        "annotations": dict(of["metadata"]["annotations"]),
    }
    if owner:
        metadata["ownerReferences"] = [reference(owner)]
        if "template" in owner["spec"]:
            metadata["labels"] |= owner["spec"]["template"]["metadata"]["labels"]
    status = "True" if ready else "False"
    startup = float(of["metadata"]["annotations"].get(STARTUP, "10s").rstrip("s"))
    ready_at = datetime.fromisoformat(LONG_AGO) + timedelta(seconds=round(startup))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**of["spec"], "nodeName": node_name},
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": LONG_AGO},
                {"type": "Ready", "status": status, "lastTransitionTime": ready_at.strftime("%Y-%m-%dT%H:%M:%SZ")},
            ],
        },
    }


def reference(owner: Json) -> Json:
    """The ownerReference of a controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def workload(kind: str, name: str, spec: Json, *, api: str = "apps/v1", owner: Json | None = None) -> Json:
    """A controller with a uid of its own."""
    metadata: Json = {"name": name, "namespace": "default", "uid": f"{kind}-{name}", "generation": 1}
    if owner:
        metadata["ownerReferences"] = [reference(owner)]
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def deployment(
    name: str, on: Mapping[str, int], *, surge: int | str = "25%", ready: bool = True, **of: Any
) -> list[Json]:
    """A Deployment whose pods run where `on` says (node name → how many), with its ReplicaSet."""
    labels, replicas = {"app": name}, sum(on.values())
    made = template(labels, **of)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": "25%"}}
    selector = {"matchLabels": labels}
    owner = workload(
        "Deployment", name, {"replicas": replicas, "selector": selector, "template": made, "strategy": strategy}
    )
    hashed = template({**labels, "pod-template-hash": "5d4f8c7b9"}, **of)
    chosen = {"matchLabels": hashed["metadata"]["labels"]}
    sets = workload(
        "ReplicaSet",
        f"{name}-5d4f8c7b9",
        {"replicas": replicas, "selector": chosen, "template": hashed},
        owner=owner,
    )
    sets["metadata"]["labels"] = hashed["metadata"]["labels"]
    sets["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    owner["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    places = [place for place, count in on.items() for _ in range(count)]
    pods = [pod(f"{name}-5d4f8c7b9-{i:02}", place, hashed, owner=sets, ready=ready) for i, place in enumerate(places)]
    return [owner, sets, *pods]


def stateful_set(name: str, on: list[str], *, ready: bool = True, **of: Any) -> list[Json]:
    """A StatefulSet whose i-th pod runs on the i-th node of `on`."""
    labels = {"app": name}
    made = template(labels, **of)
    spec = {
        "replicas": len(on),
        "serviceName": name,
        "selector": {"matchLabels": labels},
        "template": made,
        "podManagementPolicy": "Parallel",
    }
    owner = workload("StatefulSet", name, spec)
    return [owner, *(pod(f"{name}-{i}", place, made, owner=owner, ready=ready) for i, place in enumerate(on))]


def job(name: str, on: str, **of: Any) -> list[Json]:
    """A Job with its one pod."""
    made = template({"job-name": name}, restartPolicy="Never", **of)
    spec = {"completions": 1, "parallelism": 1, "backoffLimit": 6, "selector": {"matchLabels": {"job-name": name}}}
    owner = workload("Job", name, {**spec, "template": made}, api="batch/v1")
    return [owner, pod(f"{name}-x", on, made, owner=owner)]


def bare(name: str, on: str, labels: Mapping[str, str] | None = None, **of: Any) -> Json:
    """A pod that nobody would put back."""
    return pod(name, on, template(labels or {"run": name}, **of))


def budget(name: str, labels: Mapping[str, str], **spec: Any) -> Json:
    """A PodDisruptionBudget over pods of these labels."""
    selector = {"matchLabels": dict(labels)}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", "generation": 1},
        "spec": {"selector": selector, **spec},
    }


def service(name: str, selector: Mapping[str, str], **spec: Any) -> Json:
    """A Service."""
    ports = [{"port": 80, "protocol": "TCP", "targetPort": 8080}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": dict(selector), "ports": ports, **spec},
    }


def daemon_set(name: str, labels: Mapping[str, str], **of: Any) -> Json:
    """A DaemonSet that no node is right for: it makes no pods, and selects all the same."""
    of.setdefault("nodeSelector", {"no-such": "node"})
    spec = {"selector": {"matchLabels": dict(labels)}, "template": template(labels, **of)}
    return workload("DaemonSet", name, spec)


def quota(name: str, used: Mapping[str, str], **hard: str) -> Json:
    """A ResourceQuota with what its controller has counted."""
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"hard": dict(hard)},
        "status": {"hard": dict(hard), "used": dict(used)},
    }


def autoscaler(name: str, *, least: int, most: int, annotations: Mapping[str, str] | None = None, **spec: Any) -> Json:
    """A HorizontalPodAutoscaler of the Deployment of that name."""
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "default", "annotations": dict(annotations or {})},
        "spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most, "metrics": [metric], **spec},
    }


def claim(name: str, mode: str = "ReadWriteOnce") -> Json:
    """A PersistentVolumeClaim."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}},
    }


def apart(labels: Mapping[str, str], by: str = "topology.kubernetes.io/zone") -> Json:
    """The affinity of pods that must not share a place with their like."""
    term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": by}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spot_notice(name: str, *, seconds: float = 0, action: str = "terminate") -> Json:
    """The EventBridge event for the instance of this node."""
    return {
        "version": "0",
        "id": "6b1c2f10-0000-4000-8000-000000000001",
        "detail-type": "EC2 Spot Instance Interruption Warning",
        "source": "aws.ec2",
        "account": "123456789012",
        "time": at(seconds).isoformat().replace("+00:00", "Z"),
        "region": "eu-west-1",
        "resources": [f"arn:aws:ec2:eu-west-1b:instance/{instance_id(name)}"],
        "detail": {"instance-id": instance_id(name), "instance-action": action},
    }
