"""What each message of a batch asks for.

Law: pure. Every message is in exactly one of the three heaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lambdas.application.requests import Request
from lambdas.domain.decisions.events import parse
from lambdas.domain.values.messages import Ignored, Interruption, Malformed
from lambdas.handlers.batch import Received


@dataclass(frozen=True, slots=True)
class Unreadable:
    """To be kept where people look."""

    message: Received
    reason: str


@dataclass(frozen=True, slots=True)
class Unneeded:
    """Understood, and nothing for this version to do. `kind` is the message's, `reason` says more."""

    message: Received
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Triage:
    """The heaps. A message with several notices is several requests."""

    requests: Sequence[Request]
    unreadable: Sequence[Unreadable]
    unneeded: Sequence[Unneeded]


def triage(received: Sequence[Received]) -> Triage:
    """Read every body."""
    requests: list[Request] = []
    unreadable: list[Unreadable] = []
    unneeded: list[Unneeded] = []
    for message in received:
        match parse(message.body):
            case Interruption(notices):
                requests += [Request(notice, (message.message_id,)) for notice in notices]
            case Malformed(reason):
                unreadable.append(Unreadable(message, reason))
            case Ignored(reason) as ignored:
                unneeded.append(Unneeded(message, ignored.kind, reason))
            case other:
                unneeded.append(Unneeded(message, other.kind, "not acted on by this version"))
    return Triage(requests, unreadable, unneeded)
