"""What goes wrong between a client and the API server, and when.

Law: a fault changes what a request is answered, or whether a watch is heard, never the rules of the cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from evac.simulator.timeline import Timeline
from lambdas.domain.values.answers import Absent, Forbidden, Passing, Result, Throttled, Unauthenticated, Unknown

GUARDS = "validatingadmissionpolicies"
_FOREVER = timedelta(days=36500)


@dataclass(slots=True)
class Fault:
    """Requests of a verb and resource (None: any) between two moments are answered with `result`, `takes` later.

    `is_served`: the request had its effect all the same. `times`: only that many of them; `every`: only each n-th.
    """

    result: Result
    verb: str | None = None
    resource: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    times: int | None = None
    every: int = 1
    takes: timedelta = timedelta(milliseconds=5)
    is_served: bool = False
    seen: int = 0

    def strikes(self, verb: str, resource: str, now: datetime) -> bool:
        """Whether this request is hit; it is counted."""
        if (self.since and now < self.since) or (self.until and now >= self.until) or self.times == 0:
            return False
        if self.verb not in {None, verb} or self.resource not in {None, resource}:
            return False
        self.seen += 1
        if self.seen % self.every:
            return False
        self.times = None if self.times is None else self.times - 1
        return True


@dataclass(frozen=True, slots=True)
class WatchFault:
    """Watches of a resource (None: any) between two moments: broken where `delay` is None, else late by it."""

    since: datetime
    until: datetime
    resource: str | None
    delay: timedelta | None


class Faults:
    """All faults that were asked for. Verbs and resources are those of RBAC ("create", "pods/eviction")."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._requests: list[Fault] = []
        self._watches: list[WatchFault] = []
        self._listeners: list[Callable[[], None]] = []

    # --- asking for trouble -----------------------------------------------------------------------------------

    def add(self, fault: Fault) -> None:
        """Answer the requests that the fault strikes with its result; the first fault added that strikes wins.

        One of the verb "watch" breaks watches: they are no requests that are answered.
        """
        if fault.verb == "watch":
            self.watches_broken(fault.since, fault.until, fault.resource)
        else:
            self._requests.append(fault)

    def api_away(self, since: datetime, until: datetime, takes: timedelta = timedelta(milliseconds=5)) -> None:
        """No connection from `since` to `until`: requests fail after `takes`, watches are broken."""
        self.add(Fault(Passing("the API server cannot be reached"), since=since, until=until, takes=takes))
        self.watches_broken(since, until)

    def token_expired(self, times: int = 1) -> None:
        """The next requests are answered 401; a client mints a new token and asks once more."""
        self.add(Fault(Unauthenticated("401: the API server does not know this token"), times=times))

    def forbidden(
        self, verb: str, resource: str, *, since: datetime | None = None, until: datetime | None = None
    ) -> None:
        """403 for one verb on one resource."""
        message = f"403: may not {verb} {resource}"
        self.add(Fault(Forbidden(message), verb=verb, resource=resource, since=since, until=until))

    def guard_absent(self, since: datetime | None = None, until: datetime | None = None) -> None:
        """The admission policy that holds us to our patches of pods does not stand."""
        self.add(Fault(Absent(), verb="get", resource=GUARDS, since=since, until=until))

    def throttled(
        self, times: int | None = None, retry_after: timedelta = timedelta(seconds=1), every: int = 1
    ) -> None:
        """429 by API priority and fairness."""
        self.add(Fault(Throttled(retry_after), times=times, every=every))

    def failing(self, every: int = 10, verb: str | None = None, resource: str | None = None) -> None:
        """Each n-th request is answered 500."""
        self.add(Fault(Passing("500: internal error"), every=every, verb=verb, resource=resource))

    def reset(self, times: int = 1, *, is_served: bool = False) -> None:
        """Connections reset, after or before the request was served."""
        self.add(Fault(Passing("connection reset by peer"), times=times, is_served=is_served))

    def timed_out(
        self, takes: timedelta, times: int = 1, verb: str | None = None, resource: str | None = None, *, is_served: bool
    ) -> None:
        """No answer within the client's read time-out `takes`; the request was served or not."""
        unknown = Unknown(f"no answer within {takes.total_seconds():g} s")
        self.add(Fault(unknown, takes=takes, times=times, verb=verb, resource=resource, is_served=is_served))

    def watches_broken(
        self, since: datetime | None = None, until: datetime | None = None, resource: str | None = None
    ) -> None:
        """Watches cannot be had; listing goes on."""
        self._watch(since, until, resource, None)

    def watches_late(
        self,
        delay: timedelta,
        since: datetime | None = None,
        until: datetime | None = None,
        resource: str | None = None,
    ) -> None:
        """Watch events come late by `delay`."""
        self._watch(since, until, resource, delay)

    def _watch(
        self, since: datetime | None, until: datetime | None, resource: str | None, delay: timedelta | None
    ) -> None:
        begins = since or self._timeline.now()
        ends = until or begins + _FOREVER
        self._watches.append(WatchFault(begins, ends, resource, delay))
        for moment in (begins, ends):
            self._timeline.at(moment, self._tell)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    # --- what clients feel ------------------------------------------------------------------------------------

    def on_watch_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever a watch breaks or can be had again; the returned call ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def strike(self, verb: str, resource: str) -> Fault | None:
        """The fault that hits this request."""
        now = self._timeline.now()
        return next((fault for fault in self._requests if fault.strikes(verb, resource, now)), None)

    def watch_works(self, resource: str) -> bool:
        """Whether a watch of the resource can be had now."""
        return not any(fault.delay is None for fault in self._felt(resource))

    def watch_delay(self, resource: str) -> timedelta:
        """How much later than usual events of the resource come now."""
        return max((fault.delay for fault in self._felt(resource) if fault.delay), default=timedelta(0))

    def _felt(self, resource: str) -> list[WatchFault]:
        now = self._timeline.now()
        return [f for f in self._watches if f.since <= now < f.until and f.resource in {None, resource}]
