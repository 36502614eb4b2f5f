"""What is known of one namespace's workloads: some of it watched, the rest looked at once.

Law: all of it is asked for side by side, and each listing is shown as soon as it is there.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from lambdas.adapters.kubernetes import kinds
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Response, Server
from lambdas.adapters.kubernetes.listing import Unlisted, list_all
from lambdas.adapters.kubernetes.reflector import Reflector
from lambdas.adapters.kubernetes.store import Store
from lambdas.application.ports import Clock
from lambdas.domain.values.answers import Forbidden
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from lambdas.domain.values.workloads import Deployment, ReplicaSet

Submit = Callable[[Callable[[], None]], bool]

_LONGEST = 12.0


class NamespaceWatch:
    """One namespace. Raises BadName for a name that is none."""

    def __init__(self, name: str, server: Server, clock: Clock, changed: Callable[[], None]) -> None:
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
        self._has_begun = False
        self._view: tuple[tuple[object, ...], NamespaceView] | None = None

    def look(self, submit: Submit) -> Unlisted | None:
        """List all of it now, each by a job handed to `submit`; what went wrong first, if anything did.

        What is watched is watched from then on, also where its list failed: it is tried again there.
        """
        with self._lock:
            begins, self._has_begun = not self._has_begun, True
        troubles: list[Unlisted | None] = []
        jobs = [partial(self._look_at, resource) for resource in self._once]
        if begins:
            jobs += [partial(_begin, reflector) for reflector in self.reflectors]
        left = threading.Semaphore(0)

        def done(job: Callable[[], Unlisted | None]) -> None:
            try:
                troubles.append(job())
            finally:
                left.release()

        handed = [job for job in jobs if submit(partial(done, job))]
        for _ in handed:
            left.acquire(timeout=_LONGEST)
        return next((trouble for trouble in troubles if trouble), None)

    def _look_at(self, resource: str) -> Unlisted | None:
        listed = list_all(self._server, self._once[resource])
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


def _begin(reflector: Reflector[Any]) -> Unlisted | None:
    trouble = reflector.refresh()
    reflector.start()
    return trouble


def _why_unreadable(listed: Unlisted) -> str:
    """Why asking again is of no use; empty where it is."""
    if isinstance(listed.reply, Response) and listed.reply.status == 404:
        return f"{listed.call.resource} is no kind of this API server"
    result = result_of(listed.call, listed.reply)
    return result.message if isinstance(result, Forbidden) else ""
