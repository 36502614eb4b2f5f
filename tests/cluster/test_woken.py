"""A ReplicaSet that has backed off for long, and what a touch of one of its pods saves: D17, released by a race.

The controller doubles its pauses from 5 ms on: after some ten seconds of failures the next one is as long again.
"""

import time
from collections.abc import Iterator

import pytest

from controlplane import Api, ControlPlane
from lambdas.application.ports import Cluster
from lambdas.domain.values.actions import Evict, Wake
from lambdas.domain.values.answers import Done
from tests.cluster.world import ControlPlaneWorld
from tests.contract.releases import releasing, seen_by
from tests.contract.returning import quota
from tests.contract.steps import GRACE, NS, all_ready, ask, owned, pods_of, ref_of
from tests.contract.world import Json
from tests.scenes import node

pytestmark = pytest.mark.cluster

OF_EACH = 2
APPS = ("woken", "asleep")


@pytest.fixture
def world(plane: ControlPlane, api: Api) -> Iterator[ControlPlaneWorld]:
    """The control plane."""
    world = ControlPlaneWorld(plane, api)
    yield world
    world.close()


def full(world: ControlPlaneWorld) -> dict[str, list[Json]]:
    """Two Deployments in a namespace without room for one more pod."""
    world.apply(node("od-1"))
    for app in APPS:
        world.apply(owned("Deployment", app, OF_EACH))
    pods = {app: all_ready(world, app, OF_EACH) for app in APPS}
    world.apply(quota(str(OF_EACH * len(APPS))))
    world.until(lambda: _counted(world) == (str(OF_EACH * len(APPS)),) * 2)
    return pods


def _counted(world: ControlPlaneWorld) -> tuple[str, str]:
    status = (world.get("ResourceQuota", NS, "few") or {}).get("status") or {}
    return str((status.get("used") or {}).get("pods")), str((status.get("hard") or {}).get("pods"))


def released(world: ControlPlaneWorld, port: Cluster, pods: dict[str, list[Json]]) -> None:
    """One pod of each."""
    seen_by(world, port)
    for app in APPS:
        assert ask(world, port, releasing(world, pods[app][0])) == Done()


def test_a_replica_set_that_is_touched_makes_its_pod_at_once_and_one_that_is_not_long_after(
    world: ControlPlaneWorld,
) -> None:
    pods, port = full(world), world.cluster()
    released(world, port, pods)
    world.idle(11)
    assert [len(pods_of(world, app)) for app in APPS] == [OF_EACH] * 2
    world.patch("ResourceQuota", NS, "few", {"spec": {"hard": {"pods": "20"}}})
    world.until(lambda: _counted(world)[1] == "20")
    began = time.monotonic()
    assert ask(world, port, Wake(ref_of(pods["woken"][1]), world.clock.now())) == Done()
    world.until(lambda: len(pods_of(world, "woken")) > OF_EACH)
    with_wake = time.monotonic() - began
    world.until(lambda: len(pods_of(world, "asleep")) > OF_EACH)
    without = time.monotonic() - began
    assert with_wake < 1
    assert without > 3 * with_wake
    assert without > 2


def test_a_replica_set_whose_released_pod_is_evicted_has_room_and_makes_its_pod_when_it_is_touched(
    world: ControlPlaneWorld,
) -> None:
    pods, port = full(world), world.cluster()
    released(world, port, pods)
    world.idle(11)
    for app in APPS:
        assert ask(world, port, Evict(ref_of(pods[app][0]), GRACE)) == Done()
    world.until(lambda: {len(pods_of(world, app)) for app in APPS} == {OF_EACH - 1})
    world.until(lambda: _counted(world)[0] == str((OF_EACH - 1) * len(APPS)))
    began = time.monotonic()
    assert ask(world, port, Wake(ref_of(pods["woken"][1]), world.clock.now())) == Done()
    world.until(lambda: len(pods_of(world, "woken")) == OF_EACH)
    assert time.monotonic() - began < 1
    assert len(pods_of(world, "asleep")) == OF_EACH - 1
