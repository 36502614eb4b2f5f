"""What is decided for one pod at one moment, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from lambdas.domain.decisions.deadline import Deadline
from lambdas.domain.decisions.filters import Judgement, Verdict, is_critical, judge, why_let_finish
from lambdas.domain.values.actions import Delete, Evict, Release
from lambdas.domain.values.kubernetes import BudgetRef, Pod


class Hold(Enum):
    """Why a pod stays for now; the value is what people read."""

    BUDGET = "held by its budget"
    TURN = "waits its turn at its budget"
    FINISH = "left to finish"
    REPLACEMENT = "waits for its replacement"
    CRITICAL = "goes when no other pod is on its way out"
    OPEN_NODE = "the node is still given pods and would be given it back"
    ANSWER = "waits for the API's answer"
    RETRY = "tried again shortly"


@dataclass(frozen=True, slots=True)
class Skip:
    """Not drained."""

    reason: str


@dataclass(frozen=True, slots=True)
class Await:
    """Has its SIGTERM; gone when its UID is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Stays for now, at the latest until `until` (None: until its answer, its budget or the host goes)."""

    hold: Hold
    until: datetime | None
    budgets: tuple[BudgetRef, ...] = ()
    detail: str = ""


class Cause(Enum):
    """Why a pod goes now; the value is what people read."""

    ROOM = "its budgets let it go"
    SEVERAL_BUDGETS = "several budgets, all with room"
    REPLACED = "its replacement is Ready"
    UNWANTED = "nobody wants its replica any more"
    PACED = "paced"
    LAST_SAFE_MOMENT = "its last safe moment"
    NO_TURN = "its last safe moment, and no turn at its budget"
    UNANSWERED = "no answer to its eviction"


@dataclass(frozen=True, slots=True)
class Go:
    """Goes now, by this request; `versions` are the resource versions of the budgets that it costs room."""

    ask: Evict | Delete
    versions: Mapping[BudgetRef, str]
    cause: Cause = Cause.ROOM
    detail: str = ""

    @property
    def reason(self) -> str:
        """Cause and detail in words."""
        return f"{self.cause.value}: {self.detail}" if self.detail else self.cause.value


@dataclass(frozen=True, slots=True)
class Free:
    """Stays and serves, and is released from its ReplicaSet now, so that it is replaced before it goes."""

    ask: Release


Decision = Skip | Await | Stay | Go | Free


class Door(Enum):
    """Whether the node may still be given pods: a replacement that lands on it is none.

    Shut is what the API server holds as cordoned. A scheduler that is behind may bind a pod there for some moments
    more; releases do not wait for it (law 1): what lands there is a newcomer, and is replaced in its turn.
    """

    SHUT = "is cordoned"
    SHUTTING = "is about to be cordoned"
    OPEN = "could not be cordoned"


@dataclass(frozen=True, slots=True)
class Doomed:
    """A pod on a node that will be taken. `came_after_notice`: to a node that is still given pods, in spite of us.

    What follows from the pod alone is worked out once: `last_safe_moment` is the latest one for its SIGTERM, `wish` why
    it is better left to finish (empty where it is not).
    """

    pod: Pod
    node_name: str
    deadline: Deadline
    came_after_notice: bool = False
    door: Door = Door.SHUT
    last_safe_moment: datetime = field(init=False)
    judgement: Judgement = field(init=False)
    wish: str = field(init=False)
    is_critical: bool = field(init=False)

    def __post_init__(self) -> None:
        for name, value in (
            ("last_safe_moment", self.deadline.last_safe_moment(self.pod)),
            ("judgement", judge(self.pod)),
            ("wish", why_let_finish(self.pod)),
            ("is_critical", is_critical(self.pod)),
        ):
            object.__setattr__(self, name, value)

    def rank(self, now: datetime) -> tuple[object, ...]:
        """The one order of a plan: earliest last safe moment, then longest own grace (the grace counted makes ties),
        then unready, then by name.

        That order meets every deadline that can be met. Among those whose moment has come a Job's pod is first: only
        an eviction sets the DisruptionTarget condition that its podFailurePolicy may ignore.
        """
        pod, moment = self.pod, self.last_safe_moment
        is_job = pod.owner is not None and pod.owner.kind == "Job"
        return (not (moment <= now and is_job), moment, -pod.grace, pod.ready, pod.ref)

    @property
    def is_drained(self) -> bool:
        """Whether the pod is one that has to leave and has no SIGTERM yet."""
        return self.judgement.verdict is Verdict.DRAIN


def was_born_before(pod: Pod, moment: datetime) -> bool:
    """Whether the pod is older than `moment`, by the API's whole seconds."""
    return pod.created_at is not None and pod.created_at < moment
