"""A node's drain lock, as the ledger answers for it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Acquired:
    """It is ours until it expires."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """Another invocation works on the node; its lock expires at `until` unless renewed."""

    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Ended:
    """A drain that ended after this notice was sent has done its work."""

    ended_at: datetime
    ending: str


Lock = Acquired | Held | Ended
