"""Workloads that the contract's tests share, and what is looked at in their pods."""

from lambdas.domain.values.actions import Cordon
from lambdas.domain.values.answers import Done
from tests.contract.steps import (
    all_ready,
    ask,
    mark_of,
    owned,
)
from tests.contract.world import Json, World
from tests.scenes import node


def names(pods: list[Json]) -> set[str]:
    """The pods' names."""
    return {pod["metadata"]["name"] for pod in pods}


def places(pods: list[Json]) -> set[str]:
    """The nodes the pods are on."""
    return {pod["spec"].get("nodeName", "") for pod in pods}


def owner(pod: Json | None) -> str:
    """Name of the controller that owns a pod, "" for none."""
    assert pod
    return next((str(o["name"]) for o in pod["metadata"].get("ownerReferences") or () if o.get("controller")), "")


def on_spot(world: World, manifest: Json, ready: int) -> list[Json]:
    """Its pods on spot-a, all Ready; od-1 joins afterwards."""
    world.apply(node("spot-a"))
    world.apply(manifest)
    pods = all_ready(world, manifest["metadata"]["name"], ready)
    world.apply(node("od-1"))
    return pods


def cordon(world: World) -> None:
    """Cordon spot-a, as we do."""
    assert ask(world, world.cluster(), Cordon("spot-a", mark_of(world))) == Done()


def daemons(world: World) -> list[Json]:
    """The one pod of a DaemonSet, Ready on spot-a."""
    world.apply(node("spot-a"))
    world.apply(owned("DaemonSet", "agent"))
    return all_ready(world, "agent", 1)
