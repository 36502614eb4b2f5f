"""What happens during a drain, entry by entry, for whoever watches."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Happening(Enum):
    """The kinds of entry; the value is what the console shows."""

    NOTICED = "noticed"
    CORDONED = "cordoned"
    EXCLUDED = "excluded from load balancers"
    HELD = "held"
    RELEASED = "released"
    REPLACED = "replaced"
    EVICTED = "evicted"
    DELETED = "deleted"
    GONE = "gone"
    LOST = "lost"
    PROBLEM = "problem"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to `subject` (a node or `namespace/pod`) of the node `node_name`."""

    at: datetime
    happening: Happening
    node_name: str
    subject: str
    detail: str = ""
