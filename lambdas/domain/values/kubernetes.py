"""Kubernetes objects, as far as a drain looks at them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.values.releases import Released
from lambdas.domain.values.selectors import Selector


@dataclass(frozen=True, slots=True, order=True)
class PodRef:
    """One incarnation of a pod: a StatefulSet's next pod has the same name and another uid."""

    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def __hash__(self) -> int:
        """By what tells pods apart: a plan looks pods up by the thousand, and a text's own hash is kept with it."""
        return hash(self.uid or self.name)


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller in `metadata.ownerReferences` (the entry with `controller: true`)."""

    kind: str
    name: str
    uid: str
    api_version: str = ""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A pod on its way out: SIGTERM was asked for at `signalled_at`, with `grace` from then."""

    signalled_at: datetime
    grace: timedelta


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod. `grace` is its `terminationGracePeriodSeconds` (30 s where unset, as the API defaults it).

    `cost`: what a ResourceQuota charges for it, by the quota's names, in thousandths. `apart_by`, `spread_by`: the
    topology key, other than the hostname, by which it keeps a replacement of its own labels away (required
    anti-affinity to itself; a DoNotSchedule spread that counts it after its release).
    """

    ref: PodRef
    node_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None
    phase: str = "Running"
    ready: bool = True
    grace: timedelta = timedelta(seconds=30)
    deletion: Deletion | None = None
    priority_class: str = ""
    is_mirror: bool = False
    claims: tuple[str, ...] = ()
    created_at: datetime | None = None
    scheduled_at: datetime | None = None
    is_unschedulable: bool = False
    ready_at: datetime | None = None
    restarts: int = 0
    released: Released | None = None
    is_owned_by_several: bool = False
    cost: Mapping[str, int] = field(default_factory=dict)
    apart_by: str = ""
    spread_by: str = ""


@dataclass(frozen=True, slots=True, order=True)
class BudgetRef:
    """A PodDisruptionBudget's name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget with its status. `is_observed`: `status.observedGeneration` is the spec's; else closed."""

    ref: BudgetRef
    selector: Selector
    version: str = ""
    min_available: str = ""
    max_unavailable: str = ""
    always_allows_unhealthy: bool = False
    is_observed: bool = True
    allowed: int = 0
    healthy: int = 0
    desired: int = 0
    expected: int = 0

    @property
    def rule(self) -> str:
        """What its spec says, as people wrote it; empty where it is not known."""
        if self.min_available:
            return f"minAvailable {self.min_available}"
        return f"maxUnavailable {self.max_unavailable}" if self.max_unavailable else ""


@dataclass(frozen=True, slots=True)
class Service:
    """A Service. `is_local`: a load balancer or node port with `externalTrafficPolicy: Local`."""

    namespace: str
    name: str
    selector: Selector
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `provider_id` is `aws:///ZONE/INSTANCE` on EKS."""

    name: str
    uid: str = ""
    provider_id: str = ""
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def instance_id(self) -> str:
        """The EC2 instance id: the last part of the provider id; empty where there is none."""
        return self.provider_id.rpartition("/")[2]
