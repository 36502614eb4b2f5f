"""`kubectl drain` as AWS Node Termination Handler calls the same engine.

NTH 1.25 by default: force, the pods' own grace (-1), DaemonSets ignored, emptyDir deleted, 120 s a node; each node has
its own worker. A drain that failed is not acknowledged: its message is visible again 20 s after it was received.
"""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from bench.beside.fates import RECLAIM
from bench.beside.world import World
from controlplane import Identity, provide
from controlplane.pins import Pins

_FLAGS: Final = ("--force", "--ignore-daemonsets", "--delete-emptydir-data", "--grace-period=-1")
_VISIBLE_AGAIN: Final = 20.0


class Kubectl:
    """One process a node."""

    identity = Identity("kubectl", user="kubectl-bench", groups=("system:masters",))
    identities = (identity,)

    def version(self, kubernetes: str) -> str:
        """The server's own."""
        return Pins.of(kubernetes).kubernetes

    def prepare(self, world: World) -> None:
        """Nothing: it may do everything."""

    def ready(self, world: World) -> None:
        """A kubeconfig that points where the tools are to go."""
        config = json.loads(world.plane.kubeconfig(self.identity.name).read_text())
        config["clusters"][0]["cluster"]["server"] = world.server
        _kubeconfig(world).write_text(json.dumps(config))

    def drain(self, world: World, nodes: Sequence[str]) -> None:
        """All nodes side by side."""
        with ThreadPoolExecutor(max_workers=len(nodes)) as workers:
            list(workers.map(lambda node: self._drain(world, node), nodes))

    def _drain(self, world: World, node: str) -> None:
        command = [str(provide(world.plane.version) / "kubectl"), "drain", node, *_FLAGS]
        while not world.is_over():
            left = max(1, round(RECLAIM - world.seconds()))
            environment = {"KUBECONFIG": str(_kubeconfig(world)), "HOME": str(world.plane.folder)}
            code, _ = world.processes.run([*command, f"--timeout={left}s"], environment)
            if code == 0 or world.is_over():
                return
            time.sleep(_VISIBLE_AGAIN - world.seconds() % _VISIBLE_AGAIN)


def _kubeconfig(world: World) -> Path:
    return world.plane.folder / "kubectl-drain.kubeconfig"
