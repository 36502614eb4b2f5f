"""What can be asked of the cluster, as data: replay, dry run, report and tests read the same values."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.values.kubernetes import BudgetRef, Owner, PodRef


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
    """Find the node whose provider id ends in the instance id: by each name first, then, if `may_list`, by listing.

    `is_by_name`: `names` are what it is called, whatever its provider id; the instance id only tells requests apart.
    """

    instance_id: str
    names: tuple[str, ...] = ()
    may_list: bool = True
    is_by_name: bool = False


@dataclass(frozen=True, slots=True)
class Observe:
    """List the node and its pods now, and keep them, the budgets, services and marked nodes current from then on."""

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
class ObserveWorkloads:
    """List what decides about releases in a namespace now; keep pods, Deployments and ReplicaSets current."""

    namespace: str


@dataclass(frozen=True, slots=True)
class CheckGuard:
    """Whether the admission policy and its binding stand that hold our group to its patches.

    Answered Done where they do, Absent where there is none, Refused where they say something else than ours.
    """


@dataclass(frozen=True, slots=True)
class Release:
    """One patch that takes the pod out of its ReplicaSet and leaves it running and serving.

    The hash label gets its prefix, the owner goes, our label and annotations come; by `test`s on uid, hash and owner
    uid. Answered Forbidden where an admission policy refuses it (403, or 422 though the tests still hold), Conflict
    where somebody changed the pod.
    """

    pod: PodRef
    hash: str
    replica_set: Owner
    deployment: Owner
    at: datetime


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Undo a release: one patch gives the hash back, and takes our annotations off; the ReplicaSet adopts the pod.

    The deletion cost stays, so that the old pod goes where its replacement is Ready; the label says "returned".
    """

    pod: PodRef


@dataclass(frozen=True, slots=True)
class TidyUp:
    """Take the last traces off a pod that was taken back: our label, our annotation, its former deletion cost again."""

    pod: PodRef


@dataclass(frozen=True, slots=True)
class Wake:
    """Touch an owned pod by our annotation, so that a ReplicaSet that backs off looks at its pods again."""

    pod: PodRef
    at: datetime


@dataclass(frozen=True, slots=True)
class ListReleased:
    """Every pod of the cluster that carries our released label, in whatever state. Answered Found."""


@dataclass(frozen=True, slots=True)
class ListMarked:
    """Every node of the cluster that carries our draining label. Answered Found."""


@dataclass(frozen=True, slots=True)
class Announce:
    """A Kubernetes Event on the node, or on `involved`, a pod of that node's. `kind` is Normal or Warning."""

    node_name: str
    node_uid: str
    reason: str
    message: str
    kind: str = "Normal"
    involved: PodRef | None = None


OfPod = Evict | Delete | Release | TakeBack | TidyUp | Wake
"""About one pod."""

OfNode = Observe | Cordon | ExcludeFromLoadBalancers | Restore | Announce
"""About one node, by its name."""

Action = Locate | ObserveWorkloads | CheckGuard | ListReleased | ListMarked | OfPod | OfNode
