"""A node's drain lock, kept beside the drain: where the ledger is away, the drain goes on without it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from lambdas.application.ports import Background, DrainLedger
from lambdas.contract import DRAIN_LOCK_SECONDS
from lambdas.domain.errors import PortError
from lambdas.domain.values.drains import Problem, Trouble
from lambdas.domain.values.locks import Acquired, Ended, Held, Lock
from lambdas.domain.values.notices import Notice

_LIFE = timedelta(seconds=DRAIN_LOCK_SECONDS)
_RENEW = _LIFE / 3
_POLL = timedelta(seconds=3)
_PATIENCE = timedelta(seconds=1)
"""The first eviction waits no longer than this for the ledger, nor for a lock whose time is up to be seen renewed."""


class DrainLock:
    """Asks for the lock, renews it, and polls where another holds it."""

    def __init__(self, notice: Notice, ledger: DrainLedger | None, background: Background, owner: str) -> None:
        self._notice = notice
        self._ledger = ledger
        self._background = background
        self._owner = owner
        self._asked_at: datetime | None = None
        self._first_asked_at: datetime | None = None
        self._answered_at: datetime | None = None
        self._state: Lock | None = None
        self._changed_at: datetime | None = None
        self.problem: Problem | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Of its background calls."""
        return ("lock", self._notice.instance_id)

    @property
    def has_ended_elsewhere(self) -> bool:
        """Another's drain, begun for the same notice, is over."""
        return isinstance(self._state, Ended)

    def is_held_elsewhere(self, now: datetime) -> bool:
        """Another invocation works on the node, and its lock has not outlived its life unrenewed."""
        return isinstance(self._state, Held) and now < self._dead_at(self._state)

    def _dead_at(self, held: Held) -> datetime:
        """When its holder counts as dead, whatever the ledger says or does not say: clocks differ, and ledgers fail."""
        return min(held.until, (self._changed_at or held.until) + _LIFE) + _PATIENCE

    def may_act(self, now: datetime) -> bool:
        """Whether pods may be signalled: it is ours, or the ledger has nothing to say in time."""
        if self._ledger is None or isinstance(self._state, Acquired):
            return True
        if self._state is not None:
            return isinstance(self._state, Held) and not self.is_held_elsewhere(now)
        if self.problem is not None:
            return True
        return self._first_asked_at is not None and self._first_asked_at + _PATIENCE <= now

    def keep(self, now: datetime) -> list[datetime]:
        """Ask, renew or poll where it is time to; when to look again."""
        if self._ledger is None or self.has_ended_elsewhere:
            return []
        if self._asked_at is None or (self._answered_at is not None and self._ask_again_at(self._asked_at) <= now):
            self._ask(self._ledger, now)
        wakes = [(self._first_asked_at or now) + _PATIENCE, self._ask_again_at(self._asked_at or now)]
        return [*wakes, self._dead_at(self._state)] if isinstance(self._state, Held) else wakes

    def _ask_again_at(self, asked_at: datetime) -> datetime:
        """Renewed well before it expires; another's is asked for now and then, and when its time is up."""
        if not isinstance(self._state, Held):
            return asked_at + _RENEW
        return min(asked_at + _POLL, self._state.until) if self._state.until > asked_at else asked_at + _POLL

    def _ask(self, ledger: DrainLedger, now: datetime) -> None:
        self._asked_at, self._answered_at = now, None
        self._first_asked_at = self._first_asked_at or now
        self._background.start(self.key, self._call(ledger, now))

    def _call(self, ledger: DrainLedger, now: datetime) -> Callable[[], object]:
        return lambda: ledger.acquire(self._notice, self._owner, now, now + _LIFE)

    def answered(self, value: object, now: datetime) -> None:
        """What the ledger said."""
        self._answered_at = now
        match value:
            case Acquired() | Held() | Ended():
                self._changed_at = now if value != self._state else self._changed_at
                self._state = value
            case PortError() as error:
                self.problem = Problem(Trouble.LEDGER, f"{error} The drain goes on without the ledger.")
            case _:
                self.problem = Problem(Trouble.LEDGER, f"unexpected answer: {value!r}")
