"""A scenario's objects on a control plane, settled: every pod Ready, every endpoint there, every budget counted.

An interrupted node has room for exactly its pods, so that placement is the scheduler's and still the same each time.
"""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bench.beside.scenarios import GROUP_LABEL, Scenario, Workload
from controlplane import Api
from tests.scenes import budget, deployment, node, service, stateful_set, times

Json = dict[str, Any]

_PATIENCE = timedelta(seconds=180)
_ROOM = 250
"""Pods that fit on a node with room, of those that take the replacements."""


def build(api: Api, scenario: Scenario, instances: Mapping[str, str]) -> None:
    """Make it all; `instances` says the EC2 instance of each interrupted node. Raises TimeoutError."""
    for name in scenario.nodes:
        size = scenario.doomed // len(scenario.nodes)
        api.apply(node(name, pods=size, providerID=f"aws:///eu-west-1b/{instances[name]}"))
    for workload in scenario.workloads:
        api.apply(service(workload.name, {"app": workload.name}))
        api.apply(_controller(workload, workload.doomed))
    _until_ready(api, scenario.doomed)
    api.apply(node("elsewhere", pods=max(1, scenario.elsewhere)))
    for workload in scenario.workloads:
        if workload.elsewhere:
            api.patch(_path(workload), {"spec": {"replicas": workload.replicas}})
    _until_ready(api, scenario.doomed + scenario.elsewhere)
    if not scenario.room_at:
        add_room(api, scenario)
    for it in scenario.budgets:
        api.apply(budget(it.name, dict([it.over]), **it.spec))
    api.until(lambda: _is_settled(api, scenario), _PATIENCE, "budgets and endpoints counted")


def add_room(api: Api, scenario: Scenario) -> None:
    """Nodes that take every replacement."""
    for number in range(1, math.ceil(scenario.doomed / _ROOM) + 2):
        api.apply(node(f"room-{number}", pods=_ROOM))


def endpoints_of(slices: list[Json]) -> int:
    """The Ready endpoints in EndpointSlices."""
    found = [endpoint for it in slices for endpoint in it.get("endpoints") or () if endpoint["conditions"].get("ready")]
    return len(found)


def _controller(workload: Workload, replicas: int) -> Json:
    of: Json = {"grace": workload.grace, "annotations": times(workload.startup, workload.shutdown)}
    if workload.kind == "StatefulSet":
        made = stateful_set(workload.name, [""] * replicas, **of)[0]
    else:
        made = deployment(workload.name, {"": replicas}, surge=workload.surge, **of)[0]
        made["spec"]["replicas"] = replicas
    if workload.group:
        made["spec"]["template"]["metadata"]["labels"][GROUP_LABEL] = workload.group
    found: Json = made
    return found


def _path(workload: Workload) -> str:
    return f"/apis/apps/v1/namespaces/default/{workload.kind.lower()}s/{workload.name}"


def _until_ready(api: Api, count: int) -> None:
    def are_ready() -> bool:
        running = api.items("Pod", "default", "fieldSelector=status.phase%3DRunning")
        return len(running) == count

    api.until(are_ready, _PATIENCE, f"{count} pods Ready")


def _is_settled(api: Api, scenario: Scenario) -> bool:
    budgets = [it.get("status", {}) for it in api.items("PodDisruptionBudget", "default")]
    slices = api.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")[1]["items"]
    ours = [it for it in slices if it["metadata"]["labels"].get("kubernetes.io/service-name") != "kubernetes"]
    counted = all(it.get("currentHealthy", 0) and it["currentHealthy"] == it["expectedPods"] for it in budgets)
    return counted and endpoints_of(ours) == scenario.doomed + scenario.elsewhere
