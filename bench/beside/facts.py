"""What the recorder saw, as values, and the state of the cluster that they add up to.

Moments are Unix seconds. Law: a pod on a host that was taken serves nobody, whatever the API still says of it.
"""

from collections import Counter
from dataclasses import dataclass, field

from bench.beside.scenarios import Label


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A pod as it is now. `grace_given`: of its deletion, once it is leaving; `grace`: its own; `shutdown`: needed."""

    at: float
    uid: str
    node: str
    labels: frozenset[Label]
    is_ready: bool
    is_leaving: bool
    grace_given: float
    grace: float
    shutdown: float


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod's object is gone."""

    at: float
    uid: str


@dataclass(frozen=True, slots=True)
class SliceSeen:
    """An EndpointSlice: the nodes of its Ready endpoints, one for each endpoint. None of them: perhaps deleted."""

    at: float
    name: str
    service: str
    ready_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BudgetSeen:
    """A PodDisruptionBudget, and how many of its pods it wants healthy."""

    at: float
    name: str
    over: Label
    desired: int


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node, and whether pods may be placed on it."""

    at: float
    name: str
    is_schedulable: bool


@dataclass(frozen=True, slots=True)
class HostTaken:
    """The host under a node is gone from now on."""

    at: float
    node: str


Fact = PodSeen | PodGone | SliceSeen | BudgetSeen | NodeSeen | HostTaken


@dataclass(slots=True)
class State:
    """The cluster after some facts. `healthy`: pods by label that are Ready, not leaving, and on a living host."""

    pods: dict[str, PodSeen] = field(default_factory=dict)
    slices: dict[str, SliceSeen] = field(default_factory=dict)
    budgets: dict[str, BudgetSeen] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    healthy: Counter[Label] = field(default_factory=Counter)

    def apply(self, fact: Fact) -> None:
        """One more fact."""
        match fact:
            case PodSeen():
                self._drop(fact.uid)
                self.pods[fact.uid] = fact
                self._count(fact, 1)
            case PodGone():
                self._drop(fact.uid)
            case SliceSeen():
                self.slices[fact.name] = fact
            case BudgetSeen():
                self.budgets[fact.name] = fact
            case HostTaken():
                for pod in self.on(fact.node):
                    self._count(pod, -1)
                self.taken.add(fact.node)

    def on(self, node: str) -> list[PodSeen]:
        """The pods of a node, as the API has them."""
        return [pod for pod in self.pods.values() if pod.node == node]

    def endpoints(self) -> Counter[str]:
        """Ready endpoints on living hosts, by Service."""
        counts: Counter[str] = Counter()
        for it in self.slices.values():
            counts[it.service] += sum(1 for node in it.ready_on if node not in self.taken)
        return counts

    def _drop(self, uid: str) -> None:
        if old := self.pods.pop(uid, None):
            self._count(old, -1)

    def _count(self, pod: PodSeen, by: int) -> None:
        if pod.is_ready and not pod.is_leaving and pod.node not in self.taken:
            for label in pod.labels:
                self.healthy[label] += by
