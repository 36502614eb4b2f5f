"""What a queue message turned out to say: one value for each kind, unknown and unreadable ones included."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from lambdas.domain.values.notices import Notice


@dataclass(frozen=True, slots=True)
class Interruption:
    """Instances will be taken: one notice for each."""

    kind: ClassVar[str] = "interruption"
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Rebalance:
    """EC2 sees a higher risk for the instance; a notice may follow in minutes, in hours or never."""

    kind: ClassVar[str] = "rebalance"
    instance_id: str
    noticed_at: datetime


@dataclass(frozen=True, slots=True)
class ScheduledChange:
    """Maintenance or retirement of all these instances at `starts_at`; `code` is AWS Health's eventTypeCode."""

    kind: ClassVar[str] = "scheduled_change"
    instance_ids: tuple[str, ...]
    noticed_at: datetime
    starts_at: datetime
    code: str = ""


@dataclass(frozen=True, slots=True)
class LifecycleHook:
    """A group waits for this hook's completion. `token` may be empty: the instance id does in its place."""

    instance_id: str
    group_name: str
    hook_name: str
    noticed_at: datetime
    token: str = ""


@dataclass(frozen=True, slots=True)
class LifecycleTerminate:
    """The group terminates the instance once its hook is completed or has timed out."""

    kind: ClassVar[str] = "lifecycle_terminate"
    hook: LifecycleHook


@dataclass(frozen=True, slots=True)
class LifecycleLaunch:
    """The group takes the new instance into service once its hook is completed."""

    kind: ClassVar[str] = "lifecycle_launch"
    hook: LifecycleHook


@dataclass(frozen=True, slots=True)
class Gone:
    """The host is gone: `state` is stopped or terminated."""

    kind: ClassVar[str] = "gone"
    instance_id: str
    state: str
    noticed_at: datetime


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """A spot instance has started for a spot request."""

    kind: ClassVar[str] = "fulfilled"
    instance_id: str
    noticed_at: datetime


@dataclass(frozen=True, slots=True)
class Ignored:
    """Well-formed, and nothing to act on. `reason` names the kind."""

    kind: ClassVar[str] = "ignored"
    reason: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """Not to be understood. `reason` says where and why, in ASCII; it is kept beside the body."""

    kind: ClassVar[str] = "malformed"
    reason: str


Message = (
    Interruption
    | Rebalance
    | ScheduledChange
    | LifecycleTerminate
    | LifecycleLaunch
    | Gone
    | Fulfilled
    | Ignored
    | Malformed
)
