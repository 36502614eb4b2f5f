"""The eviction subresource: what the API server does between a request and its answer.

Rules: pkg/registry/core/pod/storage/eviction.go (1.37). Two evictions under one budget at once collide: the second to
write finds the budget changed and tries again in half a second, for up to ten seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from evac.simulator.controllers.disruption import Disruption
from evac.simulator.deletions import Deletions, sent_grace
from evac.simulator.journal import Hand
from evac.simulator.objects import Key, Raw, key_of, revised, spec_of, status_of, uid_of, written_time
from evac.simulator.pods import condition_of, is_finished, is_ready, is_terminating, phase_of, with_condition
from evac.simulator.store import Store
from lambdas.domain.values.actions import Evict
from lambdas.domain.values.answers import Absent, Blocked, Done, Passing, Result, SeveralBudgets
from lambdas.domain.values.kubernetes import BudgetRef

_RETRY = timedelta(milliseconds=500)
_TRIES = 20
_MOST_DISRUPTED = 2000
_REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."

Reply = Callable[[Result], None]


@dataclass(slots=True)
class _Attempt:
    """One request inside the server."""

    action: Evict
    reply: Reply
    writing: timedelta
    tries_left: int = _TRIES

    @property
    def key(self) -> Key:
        return Key("Pod", self.action.pod.namespace, self.action.pod.name)


class Evictions:
    """POST pods/eviction."""

    def __init__(self, store: Store, deletions: Deletions, disruption: Disruption) -> None:
        self._store = store
        self._deletions = deletions
        self._disruption = disruption

    def evict(self, action: Evict, writing: timedelta, reply: Reply) -> None:
        """Begin; `reply` is called when the server has an answer, `writing` from now where a budget is written."""
        self._try(_Attempt(action, reply, writing))

    def _again(self, attempt: _Attempt, exhausted: Result, then: Callable[[_Attempt], None]) -> None:
        attempt.tries_left -= 1
        if attempt.tries_left <= 0:
            attempt.reply(exhausted)
        else:
            self._store.timeline.after(_RETRY, lambda: then(attempt))

    def _try(self, attempt: _Attempt) -> None:
        pod = self._store.get(attempt.key)
        if pod is None:
            attempt.reply(Absent())
        elif is_finished(pod) or phase_of(pod) == "Pending" or is_terminating(pod):
            if uid_of(pod) != attempt.action.pod.uid:
                self._again(attempt, Absent(), self._try)
            else:
                self._delete(attempt, pod)
        else:
            self._ask_budgets(attempt, pod)

    def _ask_budgets(self, attempt: _Attempt, pod: Raw) -> None:
        """The budget is asked before the UID is compared."""
        budgets = list(self._disruption.budgets_over(pod))
        if len(budgets) > 1:
            names = "which the eviction subresource does not support"
            attempt.reply(SeveralBudgets(f"This pod has more than one PodDisruptionBudget, {names}."))
        elif not budgets or (not is_ready(pod) and _lets_unready_go(budgets[0])):
            self._delete_if_same(attempt)
        else:
            self._take_one(attempt, budgets[0])

    def _take_one(self, attempt: _Attempt, budget: Raw) -> None:
        refusal = _refusal(budget)
        if refusal is not None:
            attempt.reply(refusal)
            return
        read = budget["metadata"]["resourceVersion"]
        self._store.timeline.after(attempt.writing, lambda: self._write(attempt, key_of(budget), read))

    def _write(self, attempt: _Attempt, key: Key, read_version: str) -> None:
        budget = self._store.get(key)
        if budget is None:
            self._delete_if_same(attempt)
        elif budget["metadata"]["resourceVersion"] != read_version:
            exhausted = Passing(f'couldn\'t update PodDisruptionBudget "{key.name}" due to conflicts')
            self._again(attempt, exhausted, lambda again: self._read_again(again, key))
        else:
            self._store.put(_with_one_less(budget, attempt.key.name, self._store))
            self._delete_if_same(attempt)

    def _read_again(self, attempt: _Attempt, key: Key) -> None:
        budget = self._store.get(key)
        if budget is None:
            self._delete_if_same(attempt)
        else:
            self._take_one(attempt, budget)

    def _delete_if_same(self, attempt: _Attempt) -> None:
        pod = self._store.get(attempt.key)
        if pod is None or uid_of(pod) != attempt.action.pod.uid:
            attempt.reply(Absent())
        else:
            self._delete(attempt, pod)

    def _delete(self, attempt: _Attempt, pod: Raw) -> None:
        """The condition first, then the deletion: two writes."""
        if condition_of(pod, "DisruptionTarget") is None:
            now, reason = self._store.timeline.now(), "EvictionByEvictionAPI"
            told = with_condition(pod, "DisruptionTarget", "True", now, reason=reason, message="Eviction API: evicting")
            pod = self._store.put(told)
        self._deletions.ask(pod, sent_grace(attempt.action, pod), Hand.EVICTED)
        attempt.reply(Done())


def _lets_unready_go(budget: Raw) -> bool:
    if spec_of(budget).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = status_of(budget)
    desired = status.get("desiredHealthy") or 0
    return desired > 0 and (status.get("currentHealthy") or 0) >= desired


def _refusal(budget: Raw) -> Blocked | None:
    """checkAndDecrement's refusals; a budget that its controller has not looked at yet is closed."""
    status, key = status_of(budget), key_of(budget)
    ref, name = BudgetRef(key.namespace, key.name), key.name
    if (status.get("observedGeneration") or 0) < (budget["metadata"].get("generation") or 0):
        return Blocked(f"{_REFUSAL} The disruption budget {name} is still being processed by the server.", ref)
    if (status.get("disruptionsAllowed") or 0) < 0:
        return Blocked(f"The disruption budget {name} does not allow evicting pods: its allowance is negative", ref)
    if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
        return Blocked(f"The disruption budget {name} does not allow evicting pods: too many are unconfirmed", ref)
    if not status.get("disruptionsAllowed"):
        return Blocked(f"{_REFUSAL} {_why_closed(budget, name)}", ref)
    return None


def _why_closed(budget: Raw, name: str) -> str:
    status, condition = status_of(budget), condition_of(budget, "DisruptionAllowed") or {}
    if condition.get("reason") == "SyncFailed":
        return f"The disruption budget {name} failed sync: {condition.get('message')}"
    desired, healthy = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
    if healthy <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _with_one_less(budget: Raw, pod_name: str, store: Store) -> Raw:
    now = store.timeline.now()
    left = status_of(budget)["disruptionsAllowed"] - 1
    disrupted = {**(status_of(budget).get("disruptedPods") or {}), pod_name: written_time(now)}
    written = revised(budget, status={"disruptionsAllowed": left, "disruptedPods": disrupted})
    if left:
        return written
    return with_condition(written, "DisruptionAllowed", "False", now, reason="InsufficientPods", message="")
