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
"""The first eviction waits no longer than this for the ledger."""


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
        self.problem: Problem | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Of its background calls."""
        return ("lock", self._notice.instance_id)

    @property
    def has_ended_elsewhere(self) -> bool:
        """Another's drain, begun for the same notice, is over."""
        return isinstance(self._state, Ended)

    @property
    def is_held_elsewhere(self) -> bool:
        """Another invocation works on the node."""
        return isinstance(self._state, Held)

    def may_act(self, now: datetime) -> bool:
        """Whether pods may be signalled: it is ours, or the ledger has nothing to say in time."""
        if self._ledger is None or isinstance(self._state, Acquired):
            return True
        if self._state is not None:
            return False
        if self.problem is not None:
            return True
        return self._first_asked_at is not None and self._first_asked_at + _PATIENCE <= now

    def keep(self, now: datetime) -> list[datetime]:
        """Ask, renew or poll where it is time to; when to look again."""
        if self._ledger is None or self.has_ended_elsewhere:
            return []
        pause = _POLL if self.is_held_elsewhere else _RENEW
        if self._asked_at is None or (self._answered_at is not None and self._asked_at + pause <= now):
            self._ask(self._ledger, now)
        return [(self._first_asked_at or now) + _PATIENCE, (self._asked_at or now) + pause]

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
                self._state = value
            case PortError() as error:
                self.problem = Problem(Trouble.LEDGER, f"{error} The drain goes on without the ledger.")
            case _:
                self.problem = Problem(Trouble.LEDGER, f"unexpected answer: {value!r}")
