"""What one invocation is asked to do, and with what."""

from dataclasses import dataclass
from datetime import datetime

from lambdas.application.ports import (
    Background,
    Clock,
    Cluster,
    DrainLedger,
    InstanceDirectory,
    MessageLease,
    Replacements,
    Reporter,
)
from lambdas.domain.values.drains import DrainRecord
from lambdas.domain.values.notices import Notice


@dataclass(frozen=True, slots=True)
class Request:
    """A notice and the queue messages that brought it; begun no earlier than `not_before` (replay of several).

    `node_name`: the node by its name, where a person gave that; whatever its provider id, if it has one.
    """

    notice: Notice
    message_ids: tuple[str, ...] = ()
    not_before: datetime | None = None
    node_name: str = ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a request. `is_settled`: acknowledge its messages; else give them back, to be tried again soon."""

    request: Request
    record: DrainRecord
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Ports:
    """The world, as composed. Without directory, ledger, messages or replacements (replay, a person) their
    steps are left out."""

    clock: Clock
    cluster: Cluster
    background: Background
    reporter: Reporter
    directory: InstanceDirectory | None = None
    ledger: DrainLedger | None = None
    messages: MessageLease | None = None
    replacements: Replacements | None = None
