"""What happens from the notice on, whatever the tool does.

At 120 s the host is taken: nothing on its nodes serves any longer. (kwok still removes the pods there that had their
SIGTERM, which a dead kubelet would not; only a StatefulSet waits for that.) At 150 s the Node objects go, as EC2's
instances do from EKS, and with them, some time later, their pods: garbage collection's 40 to 60 s.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from bench.beside.fates import RECLAIM
from bench.beside.recorder import Recorder
from bench.beside.scene import add_room
from bench.beside.tools import Tool
from bench.beside.world import World

_NODE_GOES = RECLAIM + 30
_LONGEST = 340.0
"""Seconds after which what is not Ready again is said not to be: garbage collection, and a start-up of a minute."""
_SETTLES = 3.0
_STEP = 0.1


def live_through(world: World, tool: Tool, recorder: Recorder) -> float | None:
    """Until all is well again, or has had its time. When the tool was done; None where it was not."""
    ended: list[float] = []

    def note_the_end(_: "Future[None]") -> None:
        ended.append(world.seconds())

    with ThreadPoolExecutor(max_workers=len(world.scenario.batches)) as workers:
        drains = [workers.submit(tool.drain, world, batch) for batch in world.scenario.batches]
        for drain in drains:
            drain.add_done_callback(note_the_end)
        _wait(world, recorder, drains)
        is_done = all(drain.done() for drain in drains)
        world.processes.close()
    for drain in drains:
        drain.result()
    return round(max(ended), 3) if is_done else None


def _wait(world: World, recorder: Recorder, drains: "list[Future[None]]") -> None:
    """Let it happen, and do what is due."""
    plan = _plan(world, recorder)
    due = next(plan)
    settled_at: float | None = None
    while world.seconds() < _LONGEST:
        if due is not None and world.seconds() >= due:
            due = next(plan)
        is_settled = _is_settled(world, recorder) and all(drain.done() for drain in drains)
        settled_at = (settled_at or world.seconds()) if is_settled else None
        if settled_at is not None and world.seconds() - settled_at > _SETTLES:
            return
        time.sleep(_STEP)


def _plan(world: World, recorder: Recorder) -> Iterator[float | None]:
    """What is done to the cluster, each at its moment: yields the next one; None: there is no more."""
    if world.scenario.room_at:
        yield world.scenario.room_at
        add_room(world.api, world.scenario)
    yield RECLAIM
    for node in world.scenario.nodes:
        recorder.take(node)
    yield _NODE_GOES
    for node in world.scenario.nodes:
        path = f"/api/v1/nodes/{node}"
        world.api.delete(path)
        world.api.patch(path, {"metadata": {"finalizers": None}})  # whoever holds it has nothing left to drain
    yield None


def _is_settled(world: World, recorder: Recorder) -> bool:
    """Nothing left on the nodes, and every replica Ready."""
    state = recorder.look()
    if any(state.healthy["app", it.name] < it.replicas for it in world.scenario.workloads):
        return False
    return all(recorder.is_empty(node) for node in world.scenario.nodes)
