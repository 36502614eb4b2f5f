"""What is known of one namespace's workloads: some of it watched, the rest looked at once.

Law: all of it is asked for side by side, and each listing is shown as soon as it is there.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from lambdas.adapters.kubernetes import kinds
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Failure, Response, Server, Trouble, list_page
from lambdas.adapters.kubernetes.listing import Unlisted, list_all
from lambdas.adapters.kubernetes.pauses import Pause
from lambdas.adapters.kubernetes.reflector import Reflector
from lambdas.adapters.kubernetes.rounds import Rounds
from lambdas.adapters.kubernetes.store import Store
from lambdas.application.ports import Clock
from lambdas.domain.values.answers import Forbidden, Passing, Throttled
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from lambdas.domain.values.workloads import Deployment, ReplicaSet

T = TypeVar("T")

Submit = Callable[[Callable[[], None]], bool]
Job = Callable[[], Unlisted | None]

_LONGEST = 12.0
_TRIES = 3
_FIRST_PAUSE = 0.2


class NamespaceWatch:
    """One namespace. Raises BadName for a name that is none."""

    def __init__(
        self, name: str, server: Server, clock: Clock, changed: Callable[[], None], rounds: Rounds | None = None
    ) -> None:
        """With `rounds` what moves is listed there in turn, and not watched."""
        self._name = name
        self._rounds = rounds
        self._server = server
        self._changed = changed
        self._lock = threading.Lock()
        self._once = {resource: kinds.looked_at_once(name, resource) for resource in kinds.LOOKED_AT_ONCE}
        self._listings: dict[str, Listing[Any]] = {resource: Listing() for resource in self._once}
        self.pods: Store[Pod] = Store(changed)
        self._deployments: Store[Deployment] = Store(changed)
        self._replica_sets: Store[ReplicaSet] = Store(changed)
        self.reflectors: tuple[Reflector[Any], ...] = (
            Reflector(f"pods-of-{name}", kinds.pods_of_deployments(name), self.pods, server, clock),
            Reflector(f"deployments-of-{name}", kinds.deployments(name), self._deployments, server, clock),
            Reflector(f"replicasets-of-{name}", kinds.replica_sets(name), self._replica_sets, server, clock),
        )
        self._view: tuple[tuple[object, ...], NamespaceView] | None = None

    def look(self, submit: Submit) -> Unlisted | None:
        """List all of it now, each by a job handed to `submit`; what went wrong first, if anything did.

        What is watched is listed until it has its first list, and watched also where that failed: it is tried again
        there.
        """
        jobs: list[Job] = [partial(self._look_at, resource) for resource in self._once]
        jobs += [partial(self._begin, reflector) for reflector in self.reflectors if reflector.store.listed_at is None]
        troubles = _side_by_side(jobs, submit)
        if len(troubles) < len(jobs):
            silence = Failure(Trouble.SILENT, f"not all of namespace {self._name} was read in time")
            return Unlisted(list_page(self._once["jobs"].collection), silence)
        return next((trouble for trouble in troubles if trouble), None)

    def _begin(self, reflector: Reflector[Any]) -> Unlisted | None:
        trouble = _persistently(reflector.refresh)
        if self._rounds is None:
            reflector.start()
        else:
            self._rounds.add(reflector)
        return trouble

    def _look_at(self, resource: str) -> Unlisted | None:
        listed = _persistently(partial(list_all, self._server, self._once[resource]))
        if isinstance(listed, Unlisted):
            why = _why_unreadable(listed)
            if not why:
                return listed
            self._set(resource, Listing((), Freshness.UNREADABLE, why))
            return None
        faults = [seen.fault for seen in listed.objects if seen.fault]
        if faults:
            why = f"{len(faults)} could not be read, as {faults[0]}"
            self._set(resource, Listing((), Freshness.UNREADABLE, why))
        else:
            self._set(resource, Listing(tuple(seen.value for seen in listed.objects), Freshness.CURRENT))
        return None

    def _set(self, resource: str, listing: Listing[Any]) -> None:
        with self._lock:
            self._listings[resource] = listing
        self._changed()

    def view(self) -> NamespaceView:
        """The newest state; the same object for as long as nothing has changed."""
        with self._lock:
            once = dict(self._listings)
        watched = (self.pods.listing(), self._deployments.listing(), self._replica_sets.listing())
        parts = (*watched, *once.values())
        if self._view is None or any(a is not b for a, b in zip(self._view[0], parts, strict=True)):
            view = NamespaceView(
                *watched,
                selecting={resource: once[resource] for resource in kinds.SELECTING},
                quotas=once["resourcequotas"],
                autoscalers=once["horizontalpodautoscalers"],
                claims=once["persistentvolumeclaims"],
            )
            self._view = (parts, view)
        return self._view[1]

    def pod(self, ref: PodRef) -> Pod | None:
        """The pod, if it is one of a Deployment here."""
        return self.pods.find(ref.uid)


def _side_by_side(jobs: Sequence[Job], submit: Submit) -> Sequence[Unlisted | None]:
    """What came of those that ended in time. A job that nobody takes is done here."""
    ended: list[Unlisted | None] = []
    one_more = threading.Semaphore(0)

    def carry_out(job: Job) -> None:
        try:
            ended.append(job())
        finally:
            one_more.release()

    until = time.monotonic() + _LONGEST
    for job in jobs:
        if not submit(partial(carry_out, job)):
            carry_out(job)
    for _ in jobs:
        one_more.acquire(timeout=max(0.0, until - time.monotonic()))
    return tuple(ended)


def _persistently(attempt: Callable[[], T | Unlisted]) -> T | Unlisted:
    """Tried again where that is of use: not after a silence, which has taken its time already."""
    pause = Pause(first=_FIRST_PAUSE)
    for _ in range(_TRIES - 1):
        found = attempt()
        if not (isinstance(found, Unlisted) and _may_pass(found)):
            return found
        time.sleep(pause.next())
    return attempt()


def _may_pass(listed: Unlisted) -> bool:
    return isinstance(result_of(listed.call, listed.reply), Passing | Throttled)


def _why_unreadable(listed: Unlisted) -> str:
    """Why asking again is of no use; empty where it is."""
    if isinstance(listed.reply, Response) and listed.reply.status == 404:
        return f"{listed.call.resource} is no kind of this API server"
    result = result_of(listed.call, listed.reply)
    return result.message if isinstance(result, Forbidden) else ""
