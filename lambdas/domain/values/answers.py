"""How the cluster answered an action. The rows are those of the API's status codes, told apart by what to do next."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from lambdas.domain.values.actions import Action
from lambdas.domain.values.kubernetes import BudgetRef, Node, Pod


@dataclass(frozen=True, slots=True)
class Done:
    """2xx. An evicted or deleted pod has its SIGTERM; it is gone only when its UID is."""


@dataclass(frozen=True, slots=True)
class Located:
    """The node of a `Locate`."""

    node: Node


@dataclass(frozen=True, slots=True)
class Found:
    """The pods of a `ListReleased`, or the nodes of a `ListMarked`."""

    pods: tuple[Pod, ...] = ()
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Absent:
    """404, or 409 on the UID precondition: that incarnation is not there (any more)."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """429 or 403 with a cause DisruptionBudget: not now. `budget` where the message names one."""

    message: str
    budget: BudgetRef | None = None


@dataclass(frozen=True, slots=True)
class SeveralBudgets:
    """500 saying that the pod has more than one PodDisruptionBudget: the eviction API cannot do it."""

    message: str


@dataclass(frozen=True, slots=True)
class Throttled:
    """429 without a budget cause: API priority and fairness; `retry_after` as the server wishes."""

    retry_after: timedelta


@dataclass(frozen=True, slots=True)
class Unauthenticated:
    """401 with a fresh token: the API server does not know who we are."""

    message: str


@dataclass(frozen=True, slots=True)
class Forbidden:
    """403: RBAC or an admission policy; the message names verb and resource."""

    message: str


@dataclass(frozen=True, slots=True)
class NamespaceTerminating:
    """403 with cause NamespaceTerminating: the namespace is going, and the pod with it."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """409 or 422 after a change by somebody else: observe again, then try again."""

    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """400 and other 4xx: a fault of ours, or of a webhook."""

    message: str


@dataclass(frozen=True, slots=True)
class Passing:
    """5xx, a reset, no connection: may pass."""

    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer within the read time-out: it may have been done. Observe."""

    message: str


Result = (
    Done
    | Located
    | Found
    | Absent
    | Blocked
    | SeveralBudgets
    | Throttled
    | Unauthenticated
    | Forbidden
    | NamespaceTerminating
    | Conflict
    | Refused
    | Passing
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of `action`, at `at`."""

    action: Action
    result: Result
    at: datetime
