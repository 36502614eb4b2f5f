"""What a message turned out to mean, and what is known of the instance it speaks of."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Reason(Enum):
    """Why a node is going; the value is what taints, metrics and reports show."""

    SPOT_INTERRUPTION = "spot-interruption"
    CAPACITY_RESERVATION = "capacity-reservation-interruption"
    INSTANCE_STOPPING = "instance-stopping"


@dataclass(frozen=True, slots=True)
class Notice:
    """One instance will be taken at `reclaim_at`. `noticed_at` is the event's own time, never that of its receipt."""

    instance_id: str
    reason: Reason
    noticed_at: datetime
    reclaim_at: datetime
    is_replayed: bool = False
    """The event came out of an EventBridge archive (`replay-name`)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """What EC2 says of an instance. `cluster_names`: those its tags name; empty where they name none."""

    instance_id: str
    state: str
    private_dns_name: str = ""
    cluster_names: frozenset[str] = frozenset()
    is_marked_for_termination: bool = False
