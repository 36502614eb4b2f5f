"""One run: a fresh control plane, a scene, a tool, the two minutes, and the time until every replica is back."""

import contextlib
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.beside.audited import requests_of
from bench.beside.aws import Account, account
from bench.beside.course import live_through
from bench.beside.facts import Fact
from bench.beside.faults import faulty
from bench.beside.figures import figures
from bench.beside.processes import Processes
from bench.beside.recorder import RECORDER, Recorder
from bench.beside.scenarios import SCENARIOS, Scenario
from bench.beside.scene import build
from bench.beside.tools import TOOLS, Tool
from bench.beside.world import World
from controlplane import Api, ControlPlane


def run(scenario_name: str, tool_name: str, version: str, seen_into: Path | None = None) -> dict[str, Any]:
    """The figures of one tool in one scenario, on a control plane of its own.

    `seen_into`: a folder for all that the recorder saw, pickled, and for what the tool said.
    """
    tool = TOOLS[tool_name]
    with _world(SCENARIOS[scenario_name], tool, version) as world:
        tool.prepare(world)
        build(world.api, world.scenario, world.instances)
        recorder = Recorder(world.plane)
        recorder.start()
        time.sleep(1)
        _wait_for_the_second(world, tool)
        tool_ended_at = live_through(world, tool, recorder)
        ended_at = time.time()
        if seen_into:
            _keep(seen_into / f"{scenario_name}-{tool_name}", recorder.facts, world, ended_at)
        seen = figures(recorder.facts, world.scenario, world.noticed_at, ended_at)
        return {**seen, **_of_the_tool(world, tool), "tool_ended_at": tool_ended_at}


def _of_the_tool(world: World, tool: Tool) -> dict[str, Any]:
    since = datetime.fromtimestamp(world.noticed_at, UTC)
    asked = [it for identity in tool.identities for it in world.plane.requests(identity.user, since)]
    return {
        **requests_of(asked, len(world.scenario.nodes)),
        "peak_memory_mb": round(world.processes.peak / 1e6, 1),
        "cpu_seconds": round(world.processes.cpu, 1),
        "processes": world.processes.started,
        "called_at": round(max(world.called_at), 3) if world.called_at else None,
    }


def _keep(stem: Path, facts: Sequence[Fact], world: World, ended_at: float) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    seen = (list(facts), world.scenario, world.noticed_at, ended_at)
    stem.with_suffix(".pickle").write_bytes(pickle.dumps(seen))
    stem.with_suffix(".log").write_bytes(world.processes.log.read_bytes())


@contextlib.contextmanager
def _world(scenario: Scenario, tool: Tool, version: str) -> Iterator[World]:
    with contextlib.ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(version, identities=[*tool.identities, RECORDER]))
        server = stack.enter_context(faulty(plane)).url if scenario.has_faults else plane.url
        pretended = stack.enter_context(account())
        named, instances = _named(scenario, pretended)
        log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "tool.log"
        processes = Processes(log)
        stack.callback(processes.close)
        yield World(named, plane, Api(plane), pretended, instances, server, processes)


def _named(scenario: Scenario, pretended: Account) -> tuple[Scenario, dict[str, str]]:
    """The scene with its nodes named as EKS does, by the private names of their instances; those by node."""
    instances = pretended.instances(len(scenario.nodes))
    names = dict(zip(scenario.nodes, instances, strict=True))
    batches = tuple(tuple(names[node] for node in batch) for batch in scenario.batches)
    return replace(scenario, batches=batches), instances


def _wait_for_the_second(world: World, tool: Tool) -> None:
    """An event's time is in whole seconds: the notice comes when one begins."""
    tool.ready(world)
    world.noticed_at = float(int(time.time()) + 2)
    time.sleep(max(0.0, -world.seconds()))
