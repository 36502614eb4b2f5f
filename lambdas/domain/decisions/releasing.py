"""Replace, then evict: which pods wait for their replacement, which may go, and which are released now.

How many may go: the Ready pods of all ReplicaSets of a Deployment and those released from it, less `spec.replicas`;
released ones first. That one formula covers replacements, scale-down, scale to 0, rollouts and takeover.

Law: workloads are counted over all nodes that carry our mark, and allotted in one order; whoever plans acts on its own
nodes' pods among those.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lambdas.contract import LABEL_TEMPLATE_HASH
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.consent import (
    Place,
    Refusal,
    autoscaler_of,
    depends_on_release,
    mode_of,
    why_not_released,
)
from lambdas.domain.decisions.release_memory import WAKE_EVERY, ReleaseMemory
from lambdas.domain.decisions.settling import Settling
from lambdas.domain.decisions.steps import Decision, Doomed, Door, Free, Go
from lambdas.domain.decisions.surroundings import Workload, Workloads, count_ready
from lambdas.domain.decisions.waves import Standing, next_wave
from lambdas.domain.values.actions import Release, Wake
from lambdas.domain.values.kubernetes import Budget, Owner, Pod, PodRef, Service
from lambdas.domain.values.observation import Listing, NamespaceView
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.settings import Settings


@dataclass(frozen=True, slots=True)
class Around:
    """What a plan knows beyond the doomed pods and their budgets.

    `elsewhere`: pods of other nodes that carry our mark, whoever drains them; `taken_hosts`: nodes whose reclaim is
    past; `awaited`: namespaces whose workloads are still being read and worth waiting for; `forbidden`: why nothing is
    released at all, empty where it is; `settling`: budgets that are being written.
    """

    namespaces: Mapping[str, NamespaceView] = field(default_factory=dict)
    services: Listing[Service] = field(default_factory=Listing)
    elsewhere: Sequence[Doomed] = ()
    taken_hosts: frozenset[str] = frozenset()
    awaited: frozenset[str] = frozenset()
    forbidden: str = ""
    memory: ReleaseMemory = field(default_factory=ReleaseMemory)
    settling: Settling = field(default_factory=Settling)


class Releases:
    """One step's view of who waits for a replacement."""

    def __init__(
        self,
        ranked: Sequence[Doomed],
        budgets: Listing[Budget],
        attempts: Mapping[PodRef, Attempt],
        settings: Settings,
        now: datetime,
        around: Around,
    ) -> None:
        self.refusals: dict[PodRef, Refusal] = {}
        self.look_again: list[datetime] = []
        self._around = around
        self._settings = settings
        self._now = now
        self._signalled = {ref for ref, a in attempts.items() if a.signalled or a.in_flight}
        self._workloads = Workloads.gather(around.namespaces, around.memory.accepted)
        self._places = _places(around, budgets)
        self._own = {d.pod.ref for d in ranked}
        self._waiting: defaultdict[str, list[Doomed]] = defaultdict(list)
        self._governed: set[PodRef] = set()
        self._orphans: set[PodRef] = set()
        self._going: set[PodRef] = set()
        self._sort(ranked)
        self._allot()

    def _sort(self, ranked: Sequence[Doomed]) -> None:
        """Every pod that is replaced before it goes, under its Deployment, in the plan's order."""
        for workload in self._workloads.by_uid.values():
            for pod in workload.released:
                self._place(pod).charge(pod)
        everywhere = [d for d in (*ranked, *self._around.elsewhere) if d.is_drained]
        for d in everywhere if not self._around.elsewhere else sorted(everywhere, key=_turn):
            its_own = self._workloads.of(d.pod)
            if self._workloads.is_orphan(self._as_released(d.pod)):
                self._orphans.add(d.pod.ref)
            elif its_own is not None and d.pod.ready and self._is_replaced_first(d, its_own):
                self._governed.add(d.pod.ref)
                self._waiting[its_own.deployment.uid].append(d)
            elif its_own is None and (reason := self._why_unknown(d.pod)):
                self.refusals[d.pod.ref] = Refusal(reason)

    def _why_unknown(self, pod: Pod) -> str:
        """Why a ReplicaSet's pod has no workload here; empty for all others, and while it may still be read."""
        if pod.owner is None or pod.owner.kind != "ReplicaSet" or self.is_awaited(pod):
            return ""
        view = self._around.namespaces.get(pod.ref.namespace) or NamespaceView()
        freshness = {
            "deployments": view.deployments.freshness,
            "replicasets": view.replica_sets.freshness,
            "pods": view.pods.freshness,
        }
        unread = [name for name, how in freshness.items() if not how.is_read]
        if unread:
            return f"not checked: {', '.join(unread)} could not be read"
        return "its ReplicaSet is no apps/v1 Deployment's"

    def _is_replaced_first(self, d: Doomed, workload: Workload) -> bool:
        if self._is_released(d.pod):
            return True
        refusal = self._why_not(d, workload)
        if refusal is None:
            self._place(d.pod).charge(d.pod)
            return True
        self.refusals[d.pod.ref] = refusal
        return refusal.is_passing

    def _why_not(self, d: Doomed, workload: Workload) -> Refusal | None:
        pod = d.pod
        if d.door is not Door.SHUT:
            return Refusal(f"its node {d.door.value}", is_passing=d.door is Door.SHUTTING)
        refused = self._around.memory.refused.get(workload.deployment.uid)
        if self._around.forbidden or refused:
            return Refusal(self._around.forbidden or f"its release was refused: {refused}")
        return why_not_released(pod, workload, self._place(pod), self._settings)

    def _allot(self) -> None:
        """Who may go by the formula; a pod past its last safe moment goes anyway, and is counted first."""
        for uid, waiting in self._waiting.items():
            workload = self._workloads.by_uid[uid]
            counted = count_ready(workload, self._signalled, self._around.taken_hosts, self._now)
            if counted.ripe_at:
                self.look_again.append(counted.ripe_at)
            may_go = counted.ready - workload.deployment.replicas
            there = [d for d in waiting if d.pod.ref not in self._signalled]
            due = [d for d in there if d.last_safe_moment <= self._now]
            others = [d for d in there if d.last_safe_moment > self._now and not d.wish]
            others.sort(key=lambda d: (not self._is_released(d.pod), d.is_critical))
            self._going |= {d.pod.ref for d in others[: max(0, may_go - len(due))]}

    def _as_released(self, pod: Pod) -> Pod:
        """The pod with its release, where that was accepted and does not show yet."""
        return pod if pod.released else self._around.memory.accepted.get(pod.ref, pod)

    def _is_released(self, pod: Pod) -> bool:
        return self._as_released(pod).released is not None

    def _place(self, pod: Pod) -> Place:
        return self._places[pod.ref.namespace]

    # --- asked by the allotment

    def is_awaited(self, pod: Pod) -> bool:
        """Whether it is not known yet if the pod may be released, and worth a moment's wait."""
        is_in_question = pod.released is not None or (pod.owner is not None and pod.owner.kind == "ReplicaSet")
        return is_in_question and pod.ref.namespace in self._around.awaited

    def replaces(self, pod: Pod) -> bool:
        """Whether the pod is replaced before it goes: then it is no matter of pacing.

        One that is not Ready costs no availability: its budget alone decides.
        """
        return pod.ref in self._governed

    def lets_go(self, pod: Pod) -> bool:
        """Whether its replacement is Ready, or nobody wants one."""
        return pod.ref in self._going or pod.ref in self._orphans

    def is_freely_gone(self, pod: Pod) -> bool:
        """Whether its own workload does without it now, so that a budget which counts no pod of it must not keep it."""
        return self.lets_go(pod) and self._is_released(pod)

    # --- asked by the plan, once it is decided who goes

    def frees(self, decisions: Mapping[PodRef, Decision]) -> dict[PodRef, Free]:
        """The releases of this step, on our own nodes."""
        found: dict[PodRef, Free] = {}
        leaving = {ref for ref, decision in decisions.items() if isinstance(decision, Go)} | self._signalled
        for uid, waiting in self._waiting.items():
            for d in self._next_of(self._workloads.by_uid[uid], waiting, leaving):
                if d.pod.ref in self._own and d.pod.owner is not None:
                    found[d.pod.ref] = Free(self._release(d.pod, d.pod.owner, self._workloads.by_uid[uid]))
        return found

    def _next_of(self, workload: Workload, waiting: Sequence[Doomed], leaving: Collection[PodRef]) -> Iterable[Doomed]:
        memory, uid = self._around.memory, workload.deployment.uid
        asked = memory.in_flight_of(uid)
        left = [d for d in waiting if self._may_be_released(d, leaving)]
        if not left:
            return ()
        standing = Standing(
            workload,
            [d.last_safe_moment for d in left],
            sum(1 for pod in workload.released if pod.ref not in leaving) + asked,
            mode_of(workload, self._settings),
            is_autoscaled=autoscaler_of(workload, self._around.namespaces[workload.deployment.namespace]) is not None,
        )
        wave = next_wave(standing, self._now)
        if wave.look_again_at:
            self.look_again.append(wave.look_again_at)
        room = min(wave.room, self._most_of(workload, asked))
        return self._at_their_time(left[: max(0, room)])

    def _most_of(self, workload: Workload, asked: int) -> int:
        """One patch alone until one was accepted (an admission policy is met once, not thirty times); and one pod stays
        owned until a replacement exists: a budget reads its scale from the owners of its pods."""
        is_first = not workload.released and workload.deployment.uid not in self._around.memory.touched
        keeps = 1 if workload.deployment.replicas > 1 else 0
        return min(1 - asked if is_first else len(workload.owned), len(workload.owned) - asked - keeps)

    def _may_be_released(self, d: Doomed, leaving: Collection[PodRef]) -> bool:
        ref = d.pod.ref
        if ref in leaving or ref in self.refusals or self._is_released(d.pod) or d.came_after_notice:
            return False
        return d.last_safe_moment > self._now and not self._around.memory.is_in_flight(ref)

    def _at_their_time(self, chosen: Iterable[Doomed]) -> Iterable[Doomed]:
        for d in chosen:
            not_before = self._around.memory.may_ask_at(d.pod.ref)
            if not_before is not None and not_before > self._now:
                self.look_again.append(not_before)
            else:
                yield d

    def _release(self, pod: Pod, replica_set: Owner, workload: Workload) -> Release:
        deployment = workload.deployment
        owner = Owner("Deployment", deployment.name, deployment.uid, "apps/v1")
        return Release(pod.ref, pod.labels[LABEL_TEMPLATE_HASH], replica_set, owner, self._now)

    def wakes(self) -> dict[str, Wake]:
        """ReplicaSets that fail to replace what was released, though pods have gone: a touch ends their back-off.

        By the uid of their Deployment.
        """
        found = {}
        for uid, workload in self._workloads.by_uid.items():
            replica_set = workload.current
            if replica_set is None or not replica_set.failure or not self._around.memory.may_wake(uid, self._now):
                continue
            own = [p for p in workload.owned if p.owner and p.owner.uid == replica_set.uid]
            if own and len(workload.owned) < workload.deployment.replicas:
                found[uid] = Wake(min(p.ref for p in own), self._now)
                self.look_again.append(self._now + WAKE_EVERY)
        return found

    def shortfalls(self) -> dict[str, int]:
        """Per Deployment that has replacements without room: those, and the pods still to be released."""
        found: dict[str, int] = {}
        for uid, waiting in self._waiting.items():
            workload = self._workloads.by_uid[uid]
            if unplaced := workload.unplaced():
                left = sum(1 for d in waiting if not self._is_released(d.pod) and d.pod.ref not in self._signalled)
                found[str(workload.deployment)] = unplaced + left
        return found


def _turn(d: Doomed) -> tuple[object, ...]:
    """The order over all marked nodes: that of the plan."""
    return (d.last_safe_moment, -d.pod.grace, d.pod.ready, d.pod.ref)


def _places(around: Around, budgets: Listing[Budget]) -> defaultdict[str, Place]:
    by_hash: defaultdict[str, list[tuple[str, Selector]]] = defaultdict(list)
    for service in around.services.items:
        if depends_on_release(service.selector):
            by_hash[service.namespace].append((f"Service {service.namespace}/{service.name}", service.selector))
    for budget in budgets.items:
        if depends_on_release(budget.selector):
            by_hash[budget.ref.namespace].append((f"PodDisruptionBudget {budget.ref}", budget.selector))
    unread = [
        name
        for name, listing in (("services", around.services), ("poddisruptionbudgets", budgets))
        if not listing.freshness.is_read
    ]
    places = defaultdict(lambda: Place(NamespaceView()))
    for name, view in around.namespaces.items():
        places[name] = Place(view, by_hash[name], unread, Counter())
    return places
