"""What a message turned out to mean, and what is known of the instance it speaks of."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Final

NO_DEADLINE: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""A reclaim that never comes: nobody takes the host."""


class Reason(Enum):
    """Why a node is going; the value is what taints, metrics and reports show."""

    SPOT_INTERRUPTION = "spot-interruption"
    CAPACITY_RESERVATION = "capacity-reservation-interruption"
    INSTANCE_STOPPING = "instance-stopping"
    MAINTENANCE = "maintenance"
    """Somebody wants the node empty; its host stays."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One instance will be taken at `reclaim_at`. `noticed_at` is the event's own time, never that of its receipt.

    For maintenance `reclaim_at` is when its node is to be empty, NO_DEADLINE where that may take as long as it takes.
    """

    instance_id: str
    reason: Reason
    noticed_at: datetime
    reclaim_at: datetime
    is_replayed: bool = False
    """The event came out of an EventBridge archive (`replay-name`)."""

    @property
    def has_deadline(self) -> bool:
        """Whether `reclaim_at` ever comes."""
        return self.reclaim_at < NO_DEADLINE

    @property
    def takes_the_host(self) -> bool:
        """Whether pods that are still there at `reclaim_at` die with their host."""
        return self.reason is not Reason.MAINTENANCE


@dataclass(frozen=True, slots=True)
class Instance:
    """What EC2 says of an instance. `cluster_names`: those its tags name; empty where they name none."""

    instance_id: str
    state: str
    private_dns_name: str = ""
    cluster_names: frozenset[str] = frozenset()
    is_marked_for_termination: bool = False
