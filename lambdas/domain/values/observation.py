"""What the cluster looks like at one moment, as far as the drains of this invocation need it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Generic, TypeVar

from lambdas.domain.values.kubernetes import Budget, Node, Pod, Service

T = TypeVar("T")


class Freshness(Enum):
    """How far a listing may be believed."""

    PENDING = "not read yet"
    CURRENT = "kept current by a watch"
    STALE = "the watch is broken; listed now and then"
    UNREADABLE = "we may not read it"


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
class Observation:
    """`nodes` holds only those that were asked for by `Observe` and whose first list has come."""

    nodes: Mapping[str, NodeView] = field(default_factory=dict)
    budgets: Listing[Budget] = Listing()
    services: Listing[Service] = Listing()
