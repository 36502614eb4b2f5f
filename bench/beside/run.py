"""One run: a fresh control plane, a scene, a tool, the two minutes, and the time until every replica is back.

At 120 s the host is taken: nothing on its nodes serves any longer, and nobody plays their kubelets. At 150 s the Node
objects go, as EC2's instances do from EKS, and with them, some time later, their pods: garbage collection's 40 to 60 s.
"""

import contextlib
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.beside.audited import requests_of
from bench.beside.aws import account
from bench.beside.facts import Fact
from bench.beside.fates import RECLAIM
from bench.beside.faults import faulty
from bench.beside.figures import figures
from bench.beside.processes import Processes
from bench.beside.recorder import RECORDER, Recorder
from bench.beside.scenarios import SCENARIOS, Scenario
from bench.beside.scene import add_room, build
from bench.beside.tools import TOOLS, Tool
from bench.beside.world import World
from controlplane import Api, ControlPlane

_NODE_GOES = RECLAIM + 30
_LONGEST = 340.0
"""Seconds after which what is not Ready again is said not to be: garbage collection, and a start-up of a minute."""
_SETTLES = 3.0
_STEP = 0.1
_MANAGED_BY = "kwok.x-k8s.io/node"


def run(scenario_name: str, tool_name: str, version: str, seen_into: Path | None = None) -> dict[str, Any]:
    """The figures of one tool in one scenario, on a control plane of its own.

    `seen_into`: a folder for all that the recorder saw, pickled, and for what the tool said.
    """
    scenario, tool = SCENARIOS[scenario_name], TOOLS[tool_name]
    with _world(scenario, tool, version) as world:
        tool.prepare(world)
        build(world.api, scenario, world.instances)
        recorder = Recorder(world.plane)
        recorder.start()
        time.sleep(1)
        _wait_for_the_second(world, tool)
        ended = _live_through(world, scenario, tool, recorder)
        ended_at = time.time()
        if seen_into:
            _keep(seen_into / f"{scenario_name}-{tool_name}", recorder.facts, world, ended_at)
        seen = figures(recorder.facts, scenario, world.noticed_at, ended_at)
        asked = world.plane.requests(tool.identity.user, datetime.fromtimestamp(world.noticed_at, UTC))
        return {
            **seen,
            **requests_of(asked, len(scenario.nodes)),
            "peak_memory_mb": round(world.processes.peak / 1e6, 1),
            "cpu_seconds": round(world.processes.cpu, 1),
            "processes": world.processes.started,
            "called_at": round(max(world.called_at), 3) if world.called_at else None,
            "tool_ended_at": ended,
        }


def _keep(stem: Path, facts: Sequence[Fact], world: World, ended_at: float) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".pickle").write_bytes(pickle.dumps((list(facts), world.noticed_at, ended_at)))
    stem.with_suffix(".log").write_bytes(world.processes.log.read_bytes())


@contextlib.contextmanager
def _world(scenario: Scenario, tool: Tool, version: str) -> Iterator[World]:
    with contextlib.ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(version, identities=[tool.identity, RECORDER]))
        server = stack.enter_context(faulty(plane)).url if scenario.has_faults else plane.url
        pretended = stack.enter_context(account())
        instances = dict(zip(scenario.nodes, pretended.instances(len(scenario.nodes)), strict=True))
        log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "tool.log"
        processes = Processes(log)
        stack.callback(processes.close)
        yield World(plane, Api(plane), pretended, instances, server, processes)


def _wait_for_the_second(world: World, tool: Tool) -> None:
    """An event's time is in whole seconds: the notice comes when one begins."""
    world.noticed_at = float(int(time.time()) + 2)
    tool.ready(world, world.noticed_at)
    time.sleep(max(0.0, -world.seconds()))


def _live_through(world: World, scenario: Scenario, tool: Tool, recorder: Recorder) -> float | None:
    """Everything that happens from the notice on. When the tool was done; None where it was not."""
    with ThreadPoolExecutor(max_workers=len(scenario.batches)) as workers:
        drains = [workers.submit(tool.drain, world, batch) for batch in scenario.batches]
        ended: list[float] = []
        for drain in drains:
            drain.add_done_callback(lambda _: ended.append(world.seconds()))
        plan = _plan(world, scenario, recorder)
        due = next(plan)
        settled_at: float | None = None
        while world.seconds() < _LONGEST:
            if due is not None and world.seconds() >= due:
                due = next(plan)
            is_settled = _is_settled(scenario, recorder) and len(ended) == len(drains)
            settled_at = (settled_at or world.seconds()) if is_settled else None
            if settled_at is not None and world.seconds() - settled_at > _SETTLES:
                break
            time.sleep(_STEP)
        world.processes.close()
    for drain in drains:
        drain.result()
    return round(max(ended), 3) if settled_at is not None else None


def _plan(world: World, scenario: Scenario, recorder: Recorder) -> Iterator[float | None]:
    """What the bench does to the cluster, each at its moment: yields the next one; None: there is no more."""
    if scenario.room_at:
        yield scenario.room_at
        add_room(world.api, scenario)
    yield RECLAIM
    for node in scenario.nodes:
        recorder.take(node)
    for node in scenario.nodes:
        world.api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {_MANAGED_BY: None}}})
    yield _NODE_GOES
    for node in scenario.nodes:
        world.api.delete(f"/api/v1/nodes/{node}")
    yield None


def _is_settled(scenario: Scenario, recorder: Recorder) -> bool:
    """Nothing left on the nodes, and every replica Ready."""
    state = recorder.look()
    if any(state.healthy["app", it.name] < it.replicas for it in scenario.workloads):
        return False
    return all(recorder.is_empty(node) for node in scenario.nodes)
