"""Karpenter itself on the cloud that its kwok provider pretends, alone and with this product beside it.

That provider has no queue of notices: what Karpenter's interruption controller does on one, deleting the node's claim,
is done here at the notice, by Karpenter's identity. The rest is Karpenter's.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Thread
from time import sleep
from typing import Final

from bench.beside import karpenter_build, karpenter_objects
from bench.beside.evac import Evac
from bench.beside.world import World
from controlplane import Api, ApiError, Identity
from controlplane.errors import tail_of

_KARPENTER: Final = Identity("karpenter", user="karpenter-bench", groups=("system:masters",))
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATIENCE: Final = timedelta(seconds=60)


class Karpenter:
    """One process that owns the interrupted nodes, and launches others where pods find no room.

    Where the scene has room only after some seconds, it is a node of Karpenter's that takes them to join.
    """

    identities: Sequence[Identity] = (_KARPENTER,)

    def version(self, kubernetes: str) -> str:
        """Karpenter's, whatever the cluster's."""
        return karpenter_build.version()

    def prepare(self, world: World) -> None:
        """Its CRDs, and a pool."""
        for crd in karpenter_build.crds():
            _make(world.api, _CRDS, crd)
        for path in (karpenter_objects.CLASSES, karpenter_objects.POOLS, karpenter_objects.CLAIMS):
            world.api.until(partial(_is_served, world.api, path), what=f"{path} served")
        _make(world.api, karpenter_objects.CLASSES, karpenter_objects.node_class(world.scenario.room_at))
        _make(world.api, karpenter_objects.POOLS, karpenter_objects.node_pool())

    def ready(self, world: World) -> None:
        """It runs, and holds the nodes for its own. Raises TimeoutError, with what it said."""
        for name in world.scenario.nodes:
            _adopt(world.api, name)
        world.scenario = replace(world.scenario, room_at=0)  # the room is Karpenter's to make
        config = json.loads(world.plane.kubeconfig(_KARPENTER.name).read_text())
        config["clusters"][0]["cluster"]["server"] = world.server
        kubeconfig = world.plane.folder / "karpenter-bench.kubeconfig"
        kubeconfig.write_text(json.dumps(config))
        environment = {
            "KUBECONFIG": str(kubeconfig),
            "DISABLE_LEADER_ELECTION": "true",
            "METRICS_PORT": "0",
            "HEALTH_PROBE_PORT": "0",
            "LOG_OUTPUT_PATHS": "stderr",
        }
        command = [str(karpenter_build.program())]
        Thread(target=world.processes.run, args=(command, environment), daemon=True).start()
        try:
            world.api.until(lambda: _owns(world), _PATIENCE, "the nodes are Karpenter's")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; Karpenter said:\n{tail_of(world.processes.log)}") from error

    def drain(self, world: World, nodes: Sequence[str]) -> None:
        """The nodes' claims are deleted; done when Karpenter has let go of them, or the hosts are taken."""
        karpenter = Api(world.plane, _KARPENTER.name)
        claims = [f"{karpenter_objects.CLAIMS}/{node}" for node in nodes]
        for claim in claims:
            karpenter.delete(claim)
        while not world.is_over() and any(world.api.get(claim)[0] == 200 for claim in claims):
            sleep(0.5)


class KarpenterAndEvac:
    """Both on the same notice, and neither knows of the other."""

    def __init__(self) -> None:
        self._tools = (Karpenter(), Evac())
        self.identities: Sequence[Identity] = [it for tool in self._tools for it in tool.identities]

    def version(self, kubernetes: str) -> str:
        """Of each."""
        return " + ".join(tool.version(kubernetes) for tool in self._tools)

    def prepare(self, world: World) -> None:
        """What each wants."""
        for tool in self._tools:
            tool.prepare(world)

    def ready(self, world: World) -> None:
        """Each, one after the other."""
        for tool in self._tools:
            tool.ready(world)

    def drain(self, world: World, nodes: Sequence[str]) -> None:
        """Side by side, until both are done."""
        with ThreadPoolExecutor(max_workers=len(self._tools)) as workers:
            for done in [workers.submit(tool.drain, world, nodes) for tool in self._tools]:
                done.result()


def _is_served(api: Api, path: str) -> bool:
    return api.get(path)[0] == 200


def _make(api: Api, path: str, made: karpenter_objects.Json) -> karpenter_objects.Json:
    status, answer = api.post(path, made)
    if status >= 300:
        raise ApiError(f"{made['kind']} {made['metadata']['name']}", status, answer)
    found: karpenter_objects.Json = answer
    return found


def _adopt(api: Api, name: str) -> None:
    """A claim that says it was launched as that node; Karpenter, not running yet, finds it so."""
    _make(api, karpenter_objects.CLAIMS, karpenter_objects.claim(name))
    launched = karpenter_objects.launched_as(api.get(f"/api/v1/nodes/{name}")[1])
    status, answer = api.patch(f"{karpenter_objects.CLAIMS}/{name}/status", launched)
    if status >= 300:
        raise ApiError(f"status of NodeClaim {name}", status, answer)


def _owns(world: World) -> bool:
    _, answer = world.api.get(karpenter_objects.CLAIMS)
    return all(karpenter_objects.is_initialized(claim) for claim in answer["items"])
