"""What the cluster looks like at one moment, as far as the drains of this invocation need it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Generic, TypeVar

from lambdas.domain.values.kubernetes import Budget, Node, Pod, Service
from lambdas.domain.values.workloads import Autoscaler, Claim, Deployment, Quota, ReplicaSet, Selecting

T = TypeVar("T")


class Freshness(Enum):
    """How far a listing may be believed."""

    PENDING = "not read yet"
    CURRENT = "as it was listed, and kept current where it is watched"
    STALE = "the watch is broken; listed now and then"
    UNREADABLE = "we may not read it"

    @property
    def is_read(self) -> bool:
        """Whether a list has come, however old it may be by now."""
        return self in (Freshness.CURRENT, Freshness.STALE)


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The objects of one kind over the whole cluster, and how far to believe them."""

    items: tuple[T, ...] = ()
    freshness: Freshness = Freshness.PENDING
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node and its pods. `node` is None once the object is gone; `listed_at`: when the newest full list was begun.

    `freshness` and `why` say how far to believe it between lists, as for a Listing.
    """

    node: Node | None
    pods: tuple[Pod, ...]
    listed_at: datetime
    freshness: Freshness = Freshness.CURRENT
    why: str = ""


@dataclass(frozen=True, slots=True)
class NamespaceView:
    """What decides about releases in one namespace, from `ObserveWorkloads` on.

    `pods` are those that carry a template hash (a Deployment's, released or not); they, the Deployments and the
    ReplicaSets are kept current, the rest was listed once. `selecting`: by resource (daemonsets, jobs,
    replicationcontrollers, networkpolicies). A listing is PENDING until its first answer.
    """

    pods: Listing[Pod] = Listing()
    deployments: Listing[Deployment] = Listing()
    replica_sets: Listing[ReplicaSet] = Listing()
    selecting: Mapping[str, Listing[Selecting]] = field(default_factory=dict)
    quotas: Listing[Quota] = Listing()
    autoscalers: Listing[Autoscaler] = Listing()
    claims: Listing[Claim] = Listing()


@dataclass(frozen=True, slots=True)
class Observation:
    """`nodes` holds only those that were asked for by `Observe` and whose first list has come; `namespaces` those of
    `ObserveWorkloads`. `marked`: every node of the cluster that carries our draining label."""

    nodes: Mapping[str, NodeView] = field(default_factory=dict)
    budgets: Listing[Budget] = Listing()
    services: Listing[Service] = Listing()
    marked: Listing[Node] = Listing()
    namespaces: Mapping[str, NamespaceView] = field(default_factory=dict)
