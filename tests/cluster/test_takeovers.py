"""The process is killed at one moment or another; another invocation goes on, once the dead one's lock is over.

All of them side by side, each in a scene of its own, judged one by one by a watch and by the API server's audit log.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from controlplane import Api, ControlPlane, Request
from evac.memory import MemoryLedger
from lambdas.contract import DRAIN_LOCK_SECONDS, LABEL_DRAINING, LABEL_RELEASED
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.notices import Notice, Reason
from tests.cluster.conftest import HANDLER
from tests.cluster.drains import Drained, drained, is_ready
from tests.cluster.invocations import Invocation
from tests.cluster.rig import CLOCK
from tests.cluster.side_by_side import Scene, lay_out, stage
from tests.cluster.watched import Story, Watched
from tests.scenes import Json, budget, deployment, instance_id, times

pytestmark = pytest.mark.cluster

_SEEN_AGAIN_AFTER = 1
_PODS, _REPLICAS = 8, 12


def _is_marked(node: Json, pods: list[Json]) -> bool:
    return bool(LABEL_DRAINING in node["metadata"]["labels"])


def _has_released(node: Json, pods: list[Json]) -> bool:
    return any(LABEL_RELEASED in p["metadata"]["labels"] for p in pods)


def _is_replaced(node: Json, pods: list[Json]) -> bool:
    return any(is_ready(p) and str(p["spec"]["nodeName"]).endswith("-room") for p in pods)


def _has_signalled(node: Json, pods: list[Json]) -> bool:
    return any("deletionTimestamp" in p["metadata"] for p in pods)


def _is_half_empty(node: Json, pods: list[Json]) -> bool:
    return len([p for p in pods if p["spec"].get("nodeName") == node["metadata"]["name"]]) <= _PODS // 2


MOMENTS: Mapping[str, Callable[[Json, list[Json]], bool]] = {
    "marked": _is_marked,
    "released": _has_released,
    "replaced": _is_replaced,
    "signalled": _has_signalled,
    "half": _is_half_empty,
}


@dataclass(frozen=True, slots=True)
class TakenOver:
    """One scene's: when the first process died, what the second made of it, and what both asked of the API server."""

    killed_at: datetime
    result: Drained
    story: Story
    asked: list[Request]
    released: int

    def signals(self) -> list[Request]:
        """The accepted requests that give a pod its SIGTERM."""
        return [r for r in self.asked if r.code < 300 and (r.subresource == "eviction" or r.verb == "delete")]


def _scene(number: int, moment: str) -> Scene:
    places = {f"t{number}-a": _PODS, f"t{number}-rest": _REPLICAS - _PODS}
    web = deployment("web", places, annotations=times(4, 1))
    return Scene(moment, [*web, budget("web", {"app": "web"}, maxUnavailable=1)], (f"t{number}-a",))


def _take_over(plane: ControlPlane, api: Api, scene: Scene) -> tuple[float, datetime, Drained]:
    """Kill the one at its moment; the other is told of the node as soon as the message is seen again."""
    [name] = scene.doomed
    began = time.time()
    with Invocation(plane, name) as first:
        has_come = MOMENTS[scene.name]
        api.until(
            lambda: has_come(api.get(f"/api/v1/nodes/{name}")[1], api.items("Pod", scene.name)), timedelta(seconds=60)
        )
        first.kill()
    killed_at = CLOCK.now()
    ledger = MemoryLedger()
    noticed_at = datetime.fromtimestamp(began, UTC)
    notice = Notice(instance_id(name), Reason.SPOT_INTERRUPTION, noticed_at, noticed_at + timedelta(seconds=120))
    ledger.acquire(notice, "dead", killed_at, killed_at + timedelta(seconds=DRAIN_LOCK_SECONDS))
    time.sleep(_SEEN_AGAIN_AFTER)
    return began, killed_at, drained(plane, name, age=time.time() - began, ledger=ledger)


@pytest.fixture(scope="module")
def takeovers(plane: ControlPlane) -> dict[str, TakenOver]:
    """All of them, once: less than a minute."""
    scenes = [_scene(number, moment) for number, moment in enumerate(MOMENTS)]
    with stage(plane) as api:
        lay_out(api, scenes)
        since = CLOCK.now()
        with Watched(plane, api) as watched, ThreadPoolExecutor(len(scenes)) as workers:
            futures = [workers.submit(_take_over, plane, api, scene) for scene in scenes]
            ends = [future.result() for future in futures]
            stories = [watched.story(s.name, s.doomed, began) for s, (began, _, _) in zip(scenes, ends, strict=True)]
        asked = plane.requests(HANDLER.user, since)
        found = {}
        for scene, (_, killed_at, result), story in zip(scenes, ends, stories, strict=True):
            left = len(api.items("Pod", scene.name, f"labelSelector={LABEL_RELEASED}"))
            of_it = [r for r in asked if r.namespace == scene.name]
            found[scene.name] = TakenOver(killed_at, result, story, of_it, left)
    return found


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_another_goes_on_and_every_pod_leaves_replaced(
    takeovers: dict[str, TakenOver], moment: str
) -> None:
    it = takeovers[moment]
    assert it.result.record.ending is Ending.DRAINED
    assert (it.story.graceful, it.story.lost) == (_PODS, 0)
    assert it.story.fewest["app", "web"] >= _REPLICAS
    assert it.story.exceeded["web"] <= 0
    assert it.released == 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_goes_on_within_20_seconds(takeovers: dict[str, TakenOver], moment: str) -> None:
    it = takeovers[moment]
    acts = [r.at for r in it.asked if r.code < 300 and r.verb in ("patch", "create", "delete")]
    after = [at for at in acts if at > it.killed_at]
    assert min(after) - it.killed_at < timedelta(seconds=20)


@pytest.mark.parametrize("moment", MOMENTS)
def test_no_pod_is_signalled_twice(takeovers: dict[str, TakenOver], moment: str) -> None:
    signalled = Counter(request.name for request in takeovers[moment].signals())
    assert len(signalled) == _PODS
    assert set(signalled.values()) == {1}
