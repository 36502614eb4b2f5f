"""What became of a drain: one record a node, written to the ledger, the log and the console alike."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

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
    """One pod's story. `signalled_at`: its SIGTERM; `held_by`: the budgets that held it; moments are absolute."""

    pod: PodRef
    departure: Departure
    grace_given: timedelta | None = None
    signalled_at: datetime | None = None
    gone_at: datetime | None = None
    held_by: tuple[BudgetRef, ...] = ()
    note: str = ""


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


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong on the way; `message` says what is broken and what to do next."""

    trouble: Trouble
    message: str


@dataclass(frozen=True, slots=True)
class DrainRecord:
    """The whole outcome of one notice. `skipped`: pods left alone, with the filter's reason."""

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
    """What went wrong on the way, each once."""

    def count(self, *departures: Departure) -> int:
        """How many pods left in one of these ways."""
        return sum(1 for pod in self.pods if pod.departure in departures)
