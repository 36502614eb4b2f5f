"""How few Ready pods each workload and budget of the drained pods had, read off the simulator's history."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from evac.replay.outcome import Low
from evac.simulator import Key, Simulation
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.selectors import Selector

Json = dict[str, Any]

_REPLICATED = ("StatefulSet", "ReplicationController")


def workload_lows(simulation: Simulation, objects: Sequence[Json], pods: Iterable[PodRef], zero: datetime) -> list[Low]:
    """One for each workload that a drained pod belonged to."""
    keys = sorted(set(workloads_of(objects, pods).values()))
    return [_low(simulation, key, _replicas(simulation.get(*key) or {}), zero) for key in keys]


def workloads_of(objects: Sequence[Json], pods: Iterable[PodRef]) -> dict[PodRef, Key]:
    """The workload of each pod that belongs to one."""
    by_key = {(o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]): o for o in objects}
    found: dict[PodRef, Key] = {}
    for ref in pods:
        workload = _workload_of(by_key.get(("Pod", ref.namespace, ref.name)), by_key)
        if workload is not None:
            found[ref] = Key(workload["kind"], ref.namespace, workload["metadata"]["name"])
    return found


def _workload_of(pod: Json | None, by_key: dict[tuple[str, str, str], Json]) -> Json | None:
    """The Deployment above its ReplicaSet, or its ReplicaSet, StatefulSet or ReplicationController."""
    owner = _owner_of(pod, by_key) if pod else None
    if owner is not None and owner["kind"] == "ReplicaSet":
        above = _owner_of(owner, by_key)
        return above if above is not None and above["kind"] == "Deployment" else owner
    return owner if owner is not None and owner["kind"] in _REPLICATED else None


def _owner_of(item: Json, by_key: dict[tuple[str, str, str], Json]) -> Json | None:
    for reference in item["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return by_key.get((reference["kind"], item["metadata"].get("namespace", ""), reference["name"]))
    return None


def _replicas(workload: Json) -> int:
    replicas = (workload.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)


def budget_lows(simulation: Simulation, objects: Sequence[Json], pods: Iterable[PodRef], zero: datetime) -> list[Low]:
    """One for each budget that selects a drained pod."""
    labels = {
        (o["metadata"]["namespace"], o["metadata"]["name"]): o["metadata"].get("labels") or {}
        for o in objects
        if o["kind"] == "Pod"
    }
    drained = [(ref.namespace, labels.get((ref.namespace, ref.name), {})) for ref in pods]
    return list(_budget_lows(simulation, objects, drained, zero))


def _budget_lows(
    simulation: Simulation, objects: Sequence[Json], drained: list[tuple[str, dict[str, str]]], zero: datetime
) -> Iterator[Low]:
    for budget in objects:
        if budget["kind"] != "PodDisruptionBudget":
            continue
        namespace, spec = budget["metadata"]["namespace"], budget.get("spec") or {}
        selector = Selector.from_json(spec.get("selector"))
        if any(space == namespace and selector.matches(labels) for space, labels in drained):
            key = Key("PodDisruptionBudget", namespace, budget["metadata"]["name"])
            counted = (simulation.get(*key) or {}).get("status") or {}
            yield _low(simulation, key, int(counted.get("desiredHealthy") or 0), zero, _rule(spec))


def _rule(spec: Json) -> str:
    for name in ("maxUnavailable", "minAvailable"):
        if spec.get(name) is not None:
            return f"{name} {spec[name]}"
    return ""


def _low(simulation: Simulation, key: Key, wanted: int, zero: datetime, rule: str = "") -> Low:
    steps = simulation.history.ready_over_time(key)
    at_start = next((count for moment, count in reversed(steps) if moment <= zero), 0)
    later = [(count, moment) for moment, count in steps if moment > zero]
    fewest, fewest_at = min([(at_start, zero), *later])
    kind = "PDB" if key.kind == "PodDisruptionBudget" else key.kind
    return Low(kind, f"{key.namespace}/{key.name}", wanted, at_start, fewest, fewest_at, rule)
