"""Steps that the contract's tests share: ask and be answered, have a pod running, wait for a budget."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from lambdas.application.ports import Cluster
from lambdas.domain.values.actions import Action, Delete, Evict, Mark, Observe
from lambdas.domain.values.answers import Answer, Done, Result
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod, PodRef
from lambdas.domain.values.observation import Freshness, NodeView, Observation
from tests.contract.world import Json, World
from tests.scenes import bare, budget, instance_id, node, template, times

T = TypeVar("T")

NS = "default"
QUICK = times(0.3, 0.5)
"""Start-up and shutdown that leave room to look in between and cost little real time."""
NOBODYS = "11111111-1111-4111-8111-111111111111"
GRACE = timedelta(seconds=5)


def collect(world: World, port: Cluster, *actions: Action, within: float = 20) -> list[Answer]:
    """Start them side by side; their answers, in the order in which they came."""
    for action in actions:
        port.start(action)
    answers: list[Answer] = []
    until = world.clock.now() + timedelta(seconds=within)
    while len(answers) < len(actions):
        assert world.clock.now() < until, f"{len(actions) - len(answers)} without an answer"
        answers += port.wait(until)
    return answers


def ask(world: World, port: Cluster, action: Action) -> Result:
    """Start one and wait for its answer."""
    [answer] = collect(world, port, action)
    assert answer.action == action
    return answer.result


def evict(world: World, port: Cluster, pod: PodRef, grace: timedelta = GRACE) -> Result:
    """Evict and wait for the answer."""
    return ask(world, port, Evict(pod, grace))


def delete(world: World, port: Cluster, pod: PodRef, grace: timedelta = GRACE) -> Result:
    """Delete and wait for the answer."""
    return ask(world, port, Delete(pod, grace))


def watch_until(world: World, port: Cluster, holds: Callable[[Observation], T], within: float = 20) -> T:
    """Wait at the port until its observation holds; the value."""
    until = world.clock.now() + timedelta(seconds=within)
    while not (value := holds(port.observe())):
        assert world.clock.now() < until, f"not within {within} s; seen last: {port.observe()}"
        port.wait(until)
    return value


def view(world: World, port: Cluster, node_name: str = "spot-a") -> NodeView:
    """Observe a node and wait until everything has been read once."""
    assert ask(world, port, Observe(node_name)) == Done()
    watch_until(world, port, lambda o: {o.budgets.freshness, o.services.freshness} == {Freshness.CURRENT})
    return port.observe().nodes[node_name]


def pod_in(port: Cluster, name: str, node_name: str = "spot-a") -> Pod | None:
    """A pod of the node by its name, as the port has seen it."""
    return next((p for p in port.observe().nodes[node_name].pods if p.ref.name == name), None)


def budget_in(port: Cluster, name: str) -> Budget | None:
    """A budget by its name, as the port has seen it."""
    return next((b for b in port.observe().budgets.items if b.ref == BudgetRef(NS, name)), None)


def ref_of(pod: Json) -> PodRef:
    """The reference of a raw pod."""
    return PodRef(pod["metadata"]["namespace"], pod["metadata"]["name"], pod["metadata"]["uid"])


def is_ready(pod: Json | None) -> bool:
    """Whether a raw pod is Ready."""
    return condition(pod, "Ready") == "True"


def condition(raw: Json | None, kind: str) -> str:
    """A condition's status, "" where there is none."""
    found = ((raw or {}).get("status") or {}).get("conditions") or ()
    return next((str(c["status"]) for c in found if c["type"] == kind), "")


def phase(pod: Json | None) -> str:
    """A raw pod's phase."""
    return str(((pod or {}).get("status") or {}).get("phase") or "")


def settle(world: World, port: Cluster) -> None:
    """Wait until nothing has come to the port for a while."""
    for _ in range(50):
        until = world.clock.now() + timedelta(milliseconds=200)
        port.wait(until)
        if world.clock.now() >= until:
            return


def pods_of(world: World, app: str) -> list[Json]:
    """The pods with the label app, those on their way out left out."""
    pods = world.list("Pod")
    return [p for p in pods if _label(p, "app") == app and not p["metadata"].get("deletionTimestamp")]


def _label(raw: Json, key: str) -> str:
    return str((raw["metadata"].get("labels") or {}).get(key, ""))


def all_ready(world: World, app: str, count: int, within: float = 20) -> list[Json]:
    """The pods of an app, once there are exactly so many and all are Ready."""

    def settled() -> list[list[Json]]:
        pods = pods_of(world, app)
        return [pods] if len(pods) == count and all(map(is_ready, pods)) else []

    return world.until(settled, within)[0]


def running(
    world: World,
    name: str = "web",
    *,
    on: str = "spot-a",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **of: Any,
) -> PodRef:
    """A bare pod bound to a node, once it is running; the node is made where it is not there."""
    if world.get("Node", "", on) is None:
        world.apply(node(on))
    pod = bare(name, on, labels or {"app": name}, annotations=annotations or QUICK, **of)
    world.apply(pod)
    world.until(lambda: phase(world.get("Pod", NS, name)) == "Running")
    return ref_of(world.get("Pod", NS, name) or pod)


def counted(world: World, manifest: Json, **status: int) -> BudgetRef:
    """A budget, once its controller has counted and its status holds what is given."""
    name = manifest["metadata"]["name"]
    world.apply(manifest)

    def holds() -> bool:
        found = world.get("PodDisruptionBudget", NS, name) or {}
        told = found.get("status") or {}
        return bool(told.get("observedGeneration")) and all(told.get(k, 0) == v for k, v in status.items())

    world.until(holds)
    return BudgetRef(NS, name)


def shut(world: World, name: str = "web", app: str | None = None) -> BudgetRef:
    """A budget over an app's pods that needs them all."""
    manifest = budget(name, {"app": app or name}, minAvailable=100)
    return counted(world, manifest, disruptionsAllowed=0)


def owned(kind: str, name: str, replicas: int | None = None, *, spec: Json | None = None, **of: Any) -> Json:
    """A workload of pods with the label app: its name."""
    labels = {"app": name}
    api = {"Job": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    of.setdefault("annotations", QUICK)
    body: Json = {"template": template(labels, **of), **(spec or {})}
    if kind != "Job":
        body["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
    if replicas is not None:
        body["replicas"] = replicas
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": NS}, "spec": body}


def mark_of(world: World, name: str = "spot-a", reason: str = "spot-interruption") -> Mark:
    """Our mark for a node, beginning now."""
    now = world.clock.now()
    return Mark(instance_id(name), reason, now + timedelta(seconds=120), now, now + timedelta(hours=1))
