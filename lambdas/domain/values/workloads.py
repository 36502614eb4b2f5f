"""What stands around a pod: its Deployment and ReplicaSet, and all that may forbid to release it from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from lambdas.domain.values.kubernetes import Owner, Pod
from lambdas.domain.values.selectors import Selector


@dataclass(frozen=True, slots=True)
class Deployment:
    """An apps/v1 Deployment. `max_surge` in pods (percentages round up); 0 where it is not a RollingUpdate."""

    namespace: str
    name: str
    uid: str
    replicas: int = 1
    is_rolling_update: bool = True
    max_surge: int = 1
    revision: str = ""
    min_ready: timedelta = timedelta()
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_being_deleted: bool = False

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """An apps/v1 ReplicaSet. `failure`: the message of its ReplicaFailure condition where that is True."""

    namespace: str
    name: str
    uid: str
    selector: Selector
    owner: Owner | None = None
    replicas: int = 1
    revision: str = ""
    failure: str = ""
    is_being_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Selecting:
    """Anything else that selects pods by their labels: `adopts` where it takes ownerless ones for its own."""

    kind: str
    namespace: str
    name: str
    uid: str
    selector: Selector
    adopts: bool = False
    other_selectors: tuple[Selector, ...] = ()
    """Further ones: a NetworkPolicy's peers."""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota: what is `left` of what it limits, in thousandths of the resource's unit.

    `priority_classes`: None where it counts every pod, else those that it counts.
    """

    namespace: str
    name: str
    left: Mapping[str, int] = field(default_factory=dict)
    priority_classes: frozenset[str] | None = None

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def counts(self, pod: Pod) -> bool:
        """Whether a pod like this one is charged to it (unknown scopes count)."""
        return self.priority_classes is None or pod.priority_class in self.priority_classes


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler. `scale_down_window`: how long it looks back before it scales down."""

    namespace: str
    name: str
    target_kind: str
    target_name: str
    scale_down_window: timedelta = timedelta(seconds=300)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A PersistentVolumeClaim. `is_shared`: pods on several nodes may use it at a time."""

    namespace: str
    name: str
    is_shared: bool = False
