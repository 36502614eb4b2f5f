"""What the drain asks of the world.

Law: `Cluster.wait` is the only call of the core that blocks. Ports speak the domain's values and raise only
`lambdas.domain.errors`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from lambdas.domain.values.actions import Action
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.drains import DrainRecord
from lambdas.domain.values.journal import Entry
from lambdas.domain.values.locks import Lock
from lambdas.domain.values.notices import Instance, Notice
from lambdas.domain.values.observation import Observation


class Clock(Protocol):
    """The one clock."""

    def now(self) -> datetime:
        """This moment, aware, in UTC."""
        ...


class Cluster(Protocol):
    """A Kubernetes API server, observed by watches and acted on side by side."""

    def start(self, action: Action) -> None:
        """Hand the action to the pool; never blocks, never raises. Its answer comes from `wait`, exactly once."""
        ...

    def wait(self, until: datetime) -> Sequence[Answer]:
        """The answers since the last call; blocks until something changed or `until`.

        A change is an answer, a watched object's, or `wake`. Returns at once, perhaps with nothing, where something
        changed since the last call or `until` is past.
        """
        ...

    def observe(self) -> Observation:
        """The newest state seen of what `Observe` asked for. Never blocks, costs no request."""
        ...

    def wake(self) -> None:
        """End the current or next `wait`; the one method that other threads may call."""
        ...

    def close(self) -> None:
        """Stop watches and pool; actions not yet begun are dropped."""
        ...


class Background(Protocol):
    """Slow calls to other services, beside the drain."""

    def start(self, key: Hashable, call: Callable[[], object]) -> None:
        """Run `call` aside. One of an equal key that has not been collected yet is not started twice."""
        ...

    def finished(self) -> Sequence[tuple[Hashable, object]]:
        """Key and returned value (or the `PortError` raised) of the calls that ended since the last time."""
        ...


class InstanceDirectory(Protocol):
    """EC2's view of instances."""

    def describe(self, instance_ids: Iterable[str]) -> Mapping[str, Instance]:
        """Those that EC2 knows, in one call for all. Raises `PortError`."""
        ...


class DrainLedger(Protocol):
    """Which node is drained by whom, and what became of it."""

    def acquire(self, notice: Notice, owner: str, now: datetime, until: datetime) -> Lock:
        """Take or renew the node's drain lock until `until`.

        `Ended` where a drain whose pods had their chance (drained, pods_lost) ended at or after `notice.noticed_at`;
        after any other ending somebody is to try again. Raises `PortError`.
        """
        ...

    def finish(self, record: DrainRecord, owner: str, now: datetime) -> None:
        """Write the outcome down and free the lock, if it is still ours. Raises `PortError`."""
        ...


class Replacements(Protocol):
    """Whoever can bring room for the replacements of pods that have to leave."""

    def want(self, pods: Mapping[str, int], now: datetime) -> None:
        """`pods`: per Deployment ("namespace/name"), how many pods find no room now; empty where all have found it.

        Called again whenever that changes; the newest call counts. Raises `PortError`.
        """
        ...


class MessageLease(Protocol):
    """The queue's messages that this invocation works on."""

    def hold(self, message_ids: Iterable[str], visibility: timedelta) -> None:
        """Keep them invisible for `visibility` from now. Raises `PortError`."""
        ...


class MalformedMessages(Protocol):
    """Where messages go that cannot be understood, so that nothing is lost."""

    def keep(self, body: str, reason: str) -> None:
        """Store the body with the reason. Raises `PortError`."""
        ...


class Reporter(Protocol):
    """Whoever watches the drain as it happens."""

    def tell(self, entry: Entry) -> None:
        """One thing happened. Never raises."""
        ...
