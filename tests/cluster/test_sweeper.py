"""What dead drains leave on the real control plane, and what the sweeps of the next minutes make of it.

Three nodes, their drains killed with pods released: one is still to be taken; two live on, with room for replacements
and without. The marks are made older by hand, which stands for the minutes that pass.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from controlplane import Api, ControlPlane
from evac.memory import CollectingReporter, MemoryDirectory, MemoryLedger
from lambdas.adapters.background import ThreadBackground
from lambdas.application.requests import Ports
from lambdas.application.sweeping import Swept, sweep
from lambdas.contract import ANNOTATION_MARK, ANNOTATION_RELEASED_FROM, LABEL_DRAINING, LABEL_RELEASED
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.marks import decode_mark, encode_mark
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.releases import DELETION_COST
from tests.cluster.conftest import HANDLER
from tests.cluster.drains import is_ready
from tests.cluster.invocations import Invocation
from tests.cluster.rig import CLOCK, connected
from tests.cluster.side_by_side import Scene, lay_out, stage
from tests.cluster.watched import Story, Watched
from tests.scenes import Json, budget, deployment, instance_id, times

pytestmark = pytest.mark.cluster

_PODS, _REPLICAS, _SURGE = 8, 10, 3
_NEVER = 3600


def _scene(name: str, room_at: float = 0) -> Scene:
    web = deployment("web", {f"{name}-a": _PODS, f"{name}-rest": _REPLICAS - _PODS}, annotations=times(5, 1))
    return Scene(name, [*web, budget("web", {"app": "web"}, maxUnavailable=1)], (f"{name}-a",), room_at=room_at)


DOOMED, LIVING, FULL = _scene("doomed"), _scene("living"), _scene("full", room_at=_NEVER)
SCENES = (DOOMED, LIVING, FULL)


@dataclass(frozen=True, slots=True)
class Left:
    """The sweeps one after the other, the pods of each scene as they were before them, and how the doomed one went."""

    sweeps: list[Swept]
    before: dict[str, list[Json]]
    after: dict[str, list[Json]]
    nodes: dict[str, Json]
    story: Story
    refused: list[str]


def _abandon(plane: ControlPlane, api: Api, scene: Scene) -> list[Json]:
    """Pods are released, and whoever did it dies."""
    with Invocation(plane, scene.doomed[0]) as first:
        api.until(lambda: len(_released(api, scene)) >= _SURGE, timedelta(seconds=30), "a wave released")
        first.kill()
    return _released(api, scene)


def _released(api: Api, scene: Scene) -> list[Json]:
    return api.items("Pod", scene.name, f"labelSelector={LABEL_RELEASED}")


def _make_older(api: Api, scene: Scene, seconds: float) -> None:
    """As if the drain had begun so much earlier, by a notice so much earlier."""
    path = f"/api/v1/nodes/{scene.doomed[0]}"
    decoded = decode_mark(api.get(path)[1]["metadata"]["annotations"][ANNOTATION_MARK])
    assert decoded
    mark, former = decoded
    assert mark.reclaim_at
    by = timedelta(seconds=seconds)
    older = replace(mark, since=mark.since - by, reclaim_at=mark.reclaim_at - by, expires_at=mark.expires_at - by)
    api.patch(path, {"metadata": {"annotations": {ANNOTATION_MARK: encode_mark(older, former)}}})


def _sweep(plane: ControlPlane, ledger: MemoryLedger, owner: str) -> Swept:
    """One invocation of the sweeper, by the function's identity."""
    directory = MemoryDirectory(Instance(instance_id(s.doomed[0]), state="running") for s in SCENES)
    with connected(plane) as cluster:
        background = ThreadBackground(cluster.wake)
        try:
            ports = Ports(CLOCK, cluster, background, CollectingReporter(), directory=directory, ledger=ledger)
            return sweep(ports, owner=owner, until=CLOCK.now() + timedelta(seconds=100))
        finally:
            background.close()


@pytest.fixture(scope="module")
def left(plane: ControlPlane) -> Left:
    """All of it, once: about a minute."""
    ledger = MemoryLedger()
    with stage(plane) as api:
        lay_out(api, SCENES)
        with Watched(plane, api) as watched:
            since = CLOCK.now()
            before = {scene.name: _abandon(plane, api, scene) for scene in SCENES}
            for scene, seconds in ((DOOMED, 35), (LIVING, 200), (FULL, 200)):
                _make_older(api, scene, seconds)
            api.until(
                lambda: len(_ready(api, LIVING)) == _REPLICAS + _SURGE, what="replacements Ready, nobody evicting"
            )
            sweeps = [_sweep(plane, ledger, "first")]
            api.until(lambda: _is_settled(api, LIVING) and _is_settled(api, FULL), timedelta(seconds=60), "no surplus")
            sweeps += [_sweep(plane, ledger, owner) for owner in ("second", "third")]
            story = watched.story("doomed", DOOMED.doomed, since.timestamp())
        after = {scene.name: api.items("Pod", scene.name) for scene in SCENES}
        nodes = {scene.name: api.get(f"/api/v1/nodes/{scene.doomed[0]}")[1] for scene in SCENES}
        refused = [f"{r.verb} {r.resource} {r.name}" for r in plane.requests(HANDLER.user, since) if r.code == 403]
    return Left(sweeps, before, after, nodes, story, refused)


def _ready(api: Api, scene: Scene) -> list[Json]:
    return [p for p in api.items("Pod", scene.name) if is_ready(p)]


def _is_settled(api: Api, scene: Scene) -> bool:
    found = api.items("Pod", scene.name)
    return len(found) == _REPLICAS and all(is_ready(p) and p["metadata"].get("ownerReferences") for p in found)


def _uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


def test_while_the_host_is_doomed_the_drain_is_finished_as_if_nobody_had_died(left: Left) -> None:
    [record] = left.sweeps[0].drained
    assert (record.node_name, record.ending) == ("doomed-a", Ending.DRAINED)
    assert (left.story.graceful, left.story.lost) == (_PODS, 0)
    assert left.story.fewest["app", "web"] >= _REPLICAS
    assert not _uids(left.before["doomed"]) & _uids(left.after["doomed"])
    assert left.nodes["doomed"]["spec"]["unschedulable"] is True


def test_nodes_that_live_on_are_given_back_with_their_pods(left: Left) -> None:
    first = left.sweeps[0]
    assert sorted(first.given_back) == ["full-a", "living-a"]
    assert len(first.pods_taken_back) == len(left.before["living"]) + len(left.before["full"])
    for name in ("living", "full"):
        node = left.nodes[name]
        assert not node["spec"].get("unschedulable")
        assert not node["spec"].get("taints")
        assert LABEL_DRAINING not in node["metadata"]["labels"]
        assert ANNOTATION_MARK not in node["metadata"]["annotations"]


def test_where_replacements_are_ready_the_old_pods_are_the_surplus_that_goes(left: Left) -> None:
    assert not _uids(left.before["living"]) & _uids(left.after["living"])


def test_where_there_was_no_room_the_old_pods_stay_and_the_next_sweep_tidies_them(left: Left) -> None:
    old = _uids(left.before["full"])
    assert old <= _uids(left.after["full"])
    assert len(left.sweeps[1].pods_tidied) == len(old)


def test_nothing_of_ours_is_left_on_any_pod(left: Left) -> None:
    for name, pods in left.after.items():
        assert len(pods) == _REPLICAS, name
        keys = {key for p in pods for of in ("labels", "annotations") for key in p["metadata"].get(of, {})}
        assert not keys & {LABEL_RELEASED, ANNOTATION_RELEASED_FROM, DELETION_COST}


def test_the_sweep_after_that_finds_nothing_to_do(left: Left) -> None:
    assert left.sweeps[2].things_done == 0
    assert left.sweeps[2].is_whole


def test_the_shipped_role_and_its_guard_are_enough(left: Left) -> None:
    assert left.refused == []
    assert [problem for swept in left.sweeps for problem in swept.problems] == []
