"""What became of a drain: one record a node, written to the ledger, the log and the console alike."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from lambdas.domain.values.courses import BudgetStory, WorkloadStory
from lambdas.domain.values.kubernetes import BudgetRef, PodRef
from lambdas.domain.values.notices import Notice


class Departure(Enum):
    """How a pod left, or why it did not."""

    EVICTED = "evicted"
    DELETED_AGAINST_BUDGET = "deleted against its budget"
    DELETED_SEVERAL_BUDGETS = "deleted, several budgets allowed it"
    DELETED = "deleted"
    FINISHED = "finished by itself"
    LEFT = "left by another hand"
    LOST = "lost with the host"
    STAYED = "still there when this invocation ended"

    @property
    def is_graceful(self) -> bool:
        """Whether the pod left before its host did."""
        return self not in (Departure.LOST, Departure.STAYED)


@dataclass(frozen=True, slots=True)
class PodFate:
    """One pod's story. `signalled_at`: its SIGTERM; `held_by`: the budgets that held it; moments are absolute.

    `released_at`: when it was released from its ReplicaSet; `replaced_at`: when its replacement let it go;
    `not_released`: why it was not, empty where it was or where there was no question of it. `last_safe_at`: the latest
    moment for its SIGTERM. `workload`: the one it belonged to ("kind namespace/name"), where that is known.
    """

    pod: PodRef
    departure: Departure
    grace_given: timedelta | None = None
    signalled_at: datetime | None = None
    gone_at: datetime | None = None
    held_by: tuple[BudgetRef, ...] = ()
    note: str = ""
    released_at: datetime | None = None
    replaced_at: datetime | None = None
    not_released: str = ""
    last_safe_at: datetime | None = None
    workload: str = ""

    @property
    def shutdown(self) -> timedelta | None:
        """How long it took from its SIGTERM to its end; None where either is not known."""
        return self.gone_at - self.signalled_at if self.gone_at and self.signalled_at else None


class Ending(Enum):
    """How a drain ended; the value is what the ledger and the metrics show."""

    DRAINED = "drained"
    PODS_LOST = "pods_lost"
    NOT_OURS = "not_ours"
    ALREADY_GONE = "already_gone"
    STALE = "stale"
    JOINED = "joined"
    FAILED = "failed"

    @property
    def gave_pods_their_chance(self) -> bool:
        """Whether a repeated notice has nothing left to do; after any other ending somebody is to try again."""
        return self in (Ending.DRAINED, Ending.PODS_LOST)


class Trouble(Enum):
    """What kind of thing went wrong; each has its own cure, and some their own metric and alarm."""

    UNAUTHENTICATED = "401, who we are"
    FORBIDDEN = "403, what we may do"
    API = "the API server"
    DIRECTORY = "EC2"
    LEDGER = "the ledger"
    MESSAGES = "the queue"
    BUDGET = "a budget"
    RELEASE = "release before evict"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong on the way; `message` says what is broken and what to do next."""

    trouble: Trouble
    message: str


@dataclass(frozen=True, slots=True)
class DrainRecord:
    """The whole outcome of one notice.

    `skipped`: pods left alone, with the filter's reason; `excluded_at`: when the node was taken out of external load
    balancers; `problems`: what went wrong on the way, each once.
    """

    notice: Notice
    ending: Ending
    node_name: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cordoned_at: datetime | None = None
    first_signal_at: datetime | None = None
    is_late: bool = False
    pods: tuple[PodFate, ...] = ()
    skipped: tuple[tuple[PodRef, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    excluded_at: datetime | None = None
    budgets: tuple[BudgetStory, ...] = ()
    workloads: tuple[WorkloadStory, ...] = ()

    def count(self, *departures: Departure) -> int:
        """How many pods left in one of these ways."""
        return sum(1 for pod in self.pods if pod.departure in departures)

    @property
    def first_release_at(self) -> datetime | None:
        """When the first pod was released."""
        return min((pod.released_at for pod in self.pods if pod.released_at), default=None)

    @property
    def first_action_at(self) -> datetime | None:
        """The first release or SIGTERM of ours, whichever came earlier."""
        return min((at for at in (self.first_release_at, self.first_signal_at) if at), default=None)

    @property
    def last_gone_at(self) -> datetime | None:
        """When the last pod that left was gone."""
        return max((pod.gone_at for pod in self.pods if pod.gone_at), default=None)

    @property
    def timeline(self) -> tuple[tuple[str, datetime | None], ...]:
        """The node's moments, by name."""
        return (
            ("cordoned", self.cordoned_at),
            ("excluded from load balancers", self.excluded_at),
            ("first release", self.first_release_at),
            ("first SIGTERM", self.first_signal_at),
            ("last pod gone", self.last_gone_at),
            ("ended", self.ended_at),
        )
