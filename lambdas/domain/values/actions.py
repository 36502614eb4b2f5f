"""What can be asked of the cluster, as data: replay, dry run, report and tests read the same values."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.values.kubernetes import BudgetRef, PodRef


@dataclass(frozen=True, slots=True)
class Mark:
    """What we leave on a node, so that only what is ours is ever undone; `expires_at` bounds a forgotten one."""

    instance_id: str
    reason: str
    reclaim_at: datetime | None
    since: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Locate:
    """Find the node whose provider id ends in the instance id: by each name first, then, if `may_list`, by listing."""

    instance_id: str
    names: tuple[str, ...] = ()
    may_list: bool = True


@dataclass(frozen=True, slots=True)
class Observe:
    """List the node and its pods now, and keep them, the budgets and the services current from then on."""

    node_name: str


@dataclass(frozen=True, slots=True)
class Cordon:
    """One patch: unschedulable, our label, mark and NoSchedule taint; what is there already stays as it is."""

    node_name: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class ExcludeFromLoadBalancers:
    """Set the label that makes external load balancers stop sending to the node; remembered as ours."""

    node_name: str


@dataclass(frozen=True, slots=True)
class Restore:
    """Take off what carries our mark, and nothing else: a node cordoned before us stays cordoned."""

    node_name: str


@dataclass(frozen=True, slots=True)
class Evict:
    """POST pods/eviction with a UID precondition; `grace` is what the pod gets, never more than its own."""

    pod: PodRef
    grace: timedelta


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE with a UID precondition, without asking its budgets; `against` are those that would have refused."""

    pod: PodRef
    grace: timedelta
    against: tuple[BudgetRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Announce:
    """A Kubernetes Event on the node. `kind` is Normal or Warning."""

    node_name: str
    node_uid: str
    reason: str
    message: str
    kind: str = "Normal"


Action = Locate | Observe | Cordon | ExcludeFromLoadBalancers | Restore | Evict | Delete | Announce
