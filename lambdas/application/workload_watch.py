"""What has to be read before a pod may be released: its namespace's workloads, and the policy that holds us to it.

Law: nobody waits long for it. What is not read in time is not checked, and what is not checked is evicted as ever.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from lambdas.application.errands import Errand
from lambdas.application.ports import Cluster
from lambdas.contract import RELEASE_GUARD
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.actions import CheckGuard, ObserveWorkloads
from lambdas.domain.values.answers import Absent, Answer, Done, Forbidden, Refused
from lambdas.domain.values.drains import Problem, Trouble
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.observation import Freshness, NamespaceView, Observation

_PATIENCE = timedelta(seconds=4)
_CURE = "`evac rbac | kubectl apply -f -` puts it in place"


class WorkloadWatch:
    """Asks for each namespace once, and says which are worth waiting for."""

    def __init__(self, cluster: Cluster, *, needs_guard: bool) -> None:
        self._cluster = cluster
        self._namespaces: dict[str, Errand] = {}
        self._first_asked_at: dict[str, datetime] = {}
        self._guard = Errand("guard")
        self._guard_asked_at: datetime | None = None
        self._needs_guard = needs_guard
        self._refusal = f"the ValidatingAdmissionPolicy {RELEASE_GUARD} could not be read in time"

    def advance(self, doomed: Iterable[Doomed], now: datetime) -> list[datetime]:
        """Ask for what is not asked for yet; when to look again."""
        for namespace in sorted({d.pod.ref.namespace for d in doomed if _is_of_a_replica_set(d.pod)}):
            errand = self._namespaces.setdefault(namespace, Errand(namespace))
            self._first_asked_at.setdefault(namespace, now)
            if errand.may_start(now):
                errand.started(now)
                self._cluster.start(ObserveWorkloads(namespace))
        if self._needs_guard and self._namespaces and self._guard.may_start(now):
            self._guard_asked_at = self._guard_asked_at or now
            self._guard.started(now)
            self._cluster.start(CheckGuard())
        return self._wakes()

    def _wakes(self) -> list[datetime]:
        asked = [*self._first_asked_at.values(), *([self._guard_asked_at] if self._guard_asked_at else [])]
        errands = (*self._namespaces.values(), self._guard)
        return [at + _PATIENCE for at in asked] + [e.look_again_at for e in errands if e.look_again_at]

    def awaited(self, observation: Observation, now: datetime) -> frozenset[str]:
        """The namespaces whose workloads are not all read yet, and still worth a moment."""
        if self._guard_asked_at and not self._guard.was_answered and now < self._guard_asked_at + _PATIENCE:
            return frozenset(self._namespaces)
        return frozenset(
            name
            for name, asked_at in self._first_asked_at.items()
            if now < asked_at + _PATIENCE and _is_pending(observation.namespaces.get(name))
        )

    @property
    def forbidden(self) -> str:
        """Why nothing is released at all; empty where it is."""
        return self._refusal if self._needs_guard else ""

    def answered(self, answer: Answer) -> Problem | None:
        """The answer to one of its errands, and what is to be said of it."""
        match answer.action:
            case ObserveWorkloads(namespace):
                self._namespaces[namespace].answered(answer.result, answer.at)
            case CheckGuard():
                self._guard.answered(answer.result, answer.at)
                return self._guard_answered(answer)
            case _:
                pass
        return None

    def _guard_answered(self, answer: Answer) -> Problem | None:
        match answer.result:
            case Done():
                self._needs_guard = False
                return None
            case Absent():
                self._refusal = f"the ValidatingAdmissionPolicy {RELEASE_GUARD}, or its binding, is not there: {_CURE}"
            case Refused(message):
                self._refusal = f"the ValidatingAdmissionPolicy {RELEASE_GUARD} is another: {message}; {_CURE}"
            case Forbidden(message):
                self._refusal = f"the ValidatingAdmissionPolicy {RELEASE_GUARD} may not be read ({message}): {_CURE}"
            case _:
                return None
        return Problem(Trouble.RELEASE, f"No pod is released before it is evicted, since {self._refusal}.")


def _is_of_a_replica_set(pod: Pod) -> bool:
    return pod.released is not None or (pod.owner is not None and pod.owner.kind == "ReplicaSet")


def _is_pending(view: NamespaceView | None) -> bool:
    if view is None or not view.selecting:
        return True
    listings: Sequence[Freshness] = [
        view.pods.freshness,
        view.deployments.freshness,
        view.replica_sets.freshness,
        view.quotas.freshness,
        view.autoscalers.freshness,
        view.claims.freshness,
        *(listing.freshness for listing in view.selecting.values()),
    ]
    return Freshness.PENDING in listings
