"""The tools side by side, each by the one name that the command line knows it by."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from bench.beside.evac import Evac
from bench.beside.karpenter import Karpenter, KarpenterAndEvac
from bench.beside.kubectl import Kubectl
from bench.beside.world import World
from controlplane import Identity


class Tool(Protocol):
    """Something that drains nodes. It runs in processes of its own, which `world.processes` starts."""

    @property
    def identities(self) -> Sequence[Identity]:
        """Who it is for the API server; its requests are counted by these users."""
        ...

    def version(self, kubernetes: str) -> str:
        """What is measured, where the control plane is of that minor version."""
        ...

    def prepare(self, world: World) -> None:
        """What has to be in the cluster before; called before the scene is made."""
        ...

    def ready(self, world: World) -> None:
        """The scene is made, and the notice about to come."""
        ...

    def drain(self, world: World, nodes: Sequence[str]) -> None:
        """Called at the notice, on a thread of its own for each batch; returns when there is no more to do."""
        ...


TOOLS: Final[Mapping[str, Tool]] = {
    "kubectl": Kubectl(),
    "evac": Evac(),
    "karpenter": Karpenter(),
    "karpenter+evac": KarpenterAndEvac(),
}
"""A peer is one more of these."""

ALWAYS: Final = ("kubectl", "evac")
"""Those that run unless the command line names others."""

PEERS: Final[Mapping[str, Sequence[str]]] = {"karpenter": ("karpenter", "karpenter+evac")}
"""The tools that run as well where PEERS names these; what they need is built then."""
