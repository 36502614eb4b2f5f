"""What holds in every cluster, whatever is done to it."""

import subprocess
import sys
from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evac.simulator import Raw, Simulation, SimulatorOptions
from lambdas.domain.values.actions import Evict
from lambdas.domain.values.answers import Done
from lambdas.domain.values.kubernetes import BudgetRef
from tests.scenes import at, budget, deployment, node, stateful_set, times
from tests.unit.simulator.stage import GRACE, observing, simulate

NODES = ("spot-a", "od-1", "od-2")


@st.composite
def clusters(draw: st.DrawFn) -> list[Raw]:
    """Three nodes with a few workloads, some behind budgets."""
    objects: list[Raw] = [node(name, pods=draw(st.integers(6, 20))) for name in NODES]
    for index in range(draw(st.integers(1, 3))):
        name, count = f"w{index}", draw(st.integers(1, 5))
        took: Any = times(draw(st.sampled_from([0.1, 1, 5])), draw(st.sampled_from([0.1, 2, 50])))
        homes = [draw(st.sampled_from(NODES)) for _ in range(count)]
        if draw(st.booleans()):
            objects += deployment(name, Counter(homes), annotations=took)
        else:
            objects += stateful_set(name, homes, annotations=took)
        limit = draw(st.sampled_from([None, 1, 2, "25%", "50%"]))
        if limit is not None:
            objects.append(budget(name, {"app": name}, maxUnavailable=limit))
    return objects


def evicted(objects: list[Raw], pauses: list[float]) -> Simulation:
    """All pods of spot-a asked to leave, again and again with pauses."""
    simulation = simulate(*objects, options=SimulatorOptions())
    port = observing(simulation)
    for pause in pauses:
        for pod in port.observe().nodes["spot-a"].pods:
            port.start(Evict(pod.ref, GRACE))
        until = simulation.clock.now() + timedelta(seconds=pause)
        while simulation.clock.now() < until:
            port.wait(until)
    return simulation


@given(clusters(), st.lists(st.floats(0.01, 20), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_evictions_alone_never_exceed_a_budget(objects: list[Raw], pauses: list[float]) -> None:
    simulation = evicted(objects, pauses)
    for guarded in (o for o in objects if o["kind"] == "PodDisruptionBudget"):
        assert simulation.history.budget_exceeded(BudgetRef("default", guarded["metadata"]["name"])) == 0


@given(clusters(), st.lists(st.floats(0.01, 20), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_signalled_pod_is_gone_within_its_grace_and_no_node_is_overfull(
    objects: list[Raw], pauses: list[float]
) -> None:
    simulation = evicted(objects, pauses)
    rooms = {o["metadata"]["name"]: int(o["status"]["allocatable"]["pods"]) for o in objects if o["kind"] == "Node"}
    begun_with = Counter(p["spec"]["nodeName"] for p in objects if p["kind"] == "Pod")
    held = Counter(p["spec"].get("nodeName") for p in simulation.list("Pod"))
    assert all(held[name] <= max(room, begun_with[name]) for name, room in rooms.items())
    simulation.run_for(timedelta(seconds=40))
    for story in simulation.journal:
        if story.signalled_at and story.grace is not None and story.signalled_at < simulation.clock.now() - GRACE:
            assert story.gone_at
            assert story.gone_at - story.signalled_at <= story.grace + timedelta(milliseconds=50)


@given(clusters(), st.lists(st.floats(0.01, 5), min_size=1, max_size=3), st.floats(0, 10))
@settings(max_examples=40, deadline=None)
def test_every_pod_ends_at_most_once_and_workloads_are_whole_again(
    objects: list[Raw], pauses: list[float], taken_at: float
) -> None:
    for spare in ("od-3", "od-4"):
        objects.append(node(spare))
    simulation = evicted(objects, pauses)
    simulation.reclaim("spot-a", simulation.clock.now() + timedelta(seconds=taken_at))
    simulation.run_for(timedelta(seconds=300))
    assert len({story.pod.uid for story in simulation.journal}) == len(list(simulation.journal))
    for story in simulation.journal.on("spot-a"):
        assert story.gone_at
        assert not (story.was_graceful and story.killed_at)
    wanted = {
        o["metadata"]["name"]: o["spec"]["replicas"] for o in objects if o["kind"] in {"Deployment", "StatefulSet"}
    }
    assert Counter(p["metadata"]["labels"]["app"] for p in simulation.list("Pod")) == wanted


def test_an_answered_eviction_is_what_happened() -> None:
    simulation = simulate(node("spot-a"), node("od-1"), *deployment("web", {"spot-a": 4}))
    port = observing(simulation)
    for pod in port.observe().nodes["spot-a"].pods:
        port.start(Evict(pod.ref, GRACE))
    done: set[str] = set()
    while len(done) < 4:
        done |= {a.action.pod.uid for a in port.wait(at(9)) if isinstance(a.action, Evict) and a.result == Done()}
    assert done == {s.pod.uid for s in simulation.journal.on("spot-a")}


def test_importing_the_simulator_loads_nothing_heavy() -> None:
    heavy = {"yaml", "rich", "typer", "boto3", "botocore", "kubernetes", "urllib3", "asyncio", "ssl", "http.client"}
    probe = "import sys, evac.simulator, evac.memory; print(' '.join(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert not heavy & set(shown.split())
    assert not [name for name in shown.split() if name.startswith("lambdas.domain.decisions")]
