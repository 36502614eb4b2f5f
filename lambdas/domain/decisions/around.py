"""What a plan knows beyond the doomed pods, their budgets and its own requests for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lambdas.domain.decisions.release_memory import ReleaseMemory
from lambdas.domain.decisions.settling import Settling
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.kubernetes import Service
from lambdas.domain.values.observation import Listing, NamespaceView


@dataclass(frozen=True, slots=True)
class Around:
    """What a plan knows beyond the doomed pods and their budgets.

    `elsewhere`: pods of other nodes that carry our mark, whoever drains them; `taken_hosts`: nodes whose reclaim is
    past; `awaited`: namespaces whose workloads are still being read and worth waiting for; `forbidden`: why nothing is
    released at all, empty where it is; `settling`: budgets that are being written.
    """

    namespaces: Mapping[str, NamespaceView] = field(default_factory=dict)
    services: Listing[Service] = field(default_factory=Listing)
    elsewhere: Sequence[Doomed] = ()
    taken_hosts: frozenset[str] = frozenset()
    awaited: frozenset[str] = frozenset()
    forbidden: str = ""
    memory: ReleaseMemory = field(default_factory=ReleaseMemory)
    settling: Settling = field(default_factory=Settling)
