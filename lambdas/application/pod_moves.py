"""The pods of all draining nodes: planned together, asked for, and remembered."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from lambdas.application.capacity import CapacityRequests
from lambdas.application.marked_nodes import pods_elsewhere, taken_hosts
from lambdas.application.node_drain import NodeDrain
from lambdas.application.requests import Ports
from lambdas.application.workload_watch import WorkloadWatch
from lambdas.domain.decisions.around import Around
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.cures import problem_of
from lambdas.domain.decisions.idling import Idling
from lambdas.domain.decisions.pacing import Tides
from lambdas.domain.decisions.plan import Plan, plan
from lambdas.domain.decisions.release_memory import ReleaseMemory
from lambdas.domain.decisions.settling import Settling
from lambdas.domain.decisions.steps import Doomed, Free, Go
from lambdas.domain.values.actions import CheckGuard, Delete, Evict, ObserveWorkloads, Release, Wake
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing, Observation
from lambdas.domain.values.settings import ReleaseMode, Settings

_PATIENCE_WITH_BUDGETS = timedelta(seconds=1)


class PodMoves:
    """Carries out one plan after the other; what it remembers of answers is part of what the next plan sees."""

    def __init__(self, drains: Sequence[NodeDrain], ports: Ports, settings: Settings) -> None:
        self._drains = drains
        self._cluster = ports.cluster
        self._settings = settings
        self._attempts: dict[PodRef, Attempt] = {}
        self._first_seen_at: datetime | None = None
        self._tides = Tides()
        self._settling = Settling()
        self._idling = Idling()
        self._memory = ReleaseMemory()
        self._pods: Mapping[PodRef, Pod] = {}
        self._watch = WorkloadWatch(ports.cluster, needs_guard=settings.needs_guard)
        self._capacity = CapacityRequests(ports.replacements, ports.background)

    def advance(self, now: datetime, observation: Observation) -> list[datetime]:
        """Plan for what is observed now and hand over what goes; when to look again."""
        by_node = {drain.node_name: drain for drain in self._drains if drain.node_name}
        doomed = [d for drain in self._drains for d in drain.doomed(observation, now)]
        if not doomed:
            self._witness(now, observation)
            return []
        self._look_at([d.pod for d in doomed], observation)
        budgets, wakes = self._budgets(observation, now)
        wakes += self._watch.advance(doomed, now)
        self._tides.saw(budgets.items, self._touched())
        self._settling.saw(budgets.items, now)
        around = self._around(doomed, observation, now)
        step = plan(doomed, budgets, self._attempts, self._settings, now, self._tides.recovered, around)
        self._tell(doomed, step, by_node, now)
        self._witness(now, observation)
        self._carry_out(step, now)
        self._capacity.tell(step.shortfalls, now)
        moments = (step.look_again_at, self._idling.saw(around.elsewhere, step.elsewhere, now))
        return wakes + [moment for moment in moments if moment]

    def _witness(self, now: datetime, observation: Observation) -> None:
        for drain in self._drains:
            if drain.witness is not None:
                drain.witness.saw(now, observation)

    def _look_at(self, pods: Sequence[Pod], observation: Observation) -> None:
        """Forget what was remembered of releases that show by now: where workloads are counted, too, which is another
        watch than the node's and may lag behind it."""
        self._pods = {pod.ref: pod for pod in pods}
        if not self._memory.accepted:
            return
        counted = (pod for view in observation.namespaces.values() for pod in view.pods.items)
        lagging = {pod.ref for pod in counted if not pod.released}
        for ref in list(self._memory.accepted):
            pod = self._pods.get(ref)
            if pod is None or (pod.released and ref not in lagging):
                self._memory.forget(ref)

    def _around(self, doomed: Sequence[Doomed], observation: Observation, now: datetime) -> Around:
        own = {d.node_name for d in doomed}
        return Around(
            namespaces=observation.namespaces,
            services=observation.services,
            elsewhere=[
                d
                for d in pods_elsewhere(observation, own, self._settings, now)
                if d.node_name not in self._idling.given_up
            ],
            taken_hosts=taken_hosts(observation, own, now),
            awaited=self._watch.awaited(observation, now),
            forbidden=self._watch.forbidden,
            memory=self._memory,
            settling=self._settling,
        )

    def _budgets(self, observation: Observation, now: datetime) -> tuple[Listing[Budget], list[datetime]]:
        """The budgets, or, if they take too long to read, none: the eviction API asks them anyway."""
        self._first_seen_at = self._first_seen_at or now
        if observation.budgets.freshness is not Freshness.PENDING:
            return observation.budgets, []
        patience = self._first_seen_at + _PATIENCE_WITH_BUDGETS
        if now < patience:
            return observation.budgets, [patience]
        return Listing((), Freshness.UNREADABLE, "not read in time"), []

    def _touched(self) -> set[BudgetRef]:
        """Budgets of which a pod has its SIGTERM from us."""
        return {ref for a in self._attempts.values() if a.signalled for ref in a.versions or ()}

    @staticmethod
    def _tell(doomed: Sequence[Doomed], step: Plan, by_node: Mapping[str, NodeDrain], now: datetime) -> None:
        for d in doomed:
            chronicle = by_node[d.node_name].chronicle
            chronicle.placed(d, step.refusals.get(d.pod.ref, ""))
            chronicle.decided(d.pod.ref, step.decisions[d.pod.ref], now)

    def _carry_out(self, step: Plan, now: datetime) -> None:
        for ref, decision in step.decisions.items():
            match decision:
                case Go():
                    self._go(ref, decision, now)
                case Free(ask):
                    self._memory.asked(ask)
                    self._cluster.start(ask)
                case _:
                    pass
        for deployment_uid, wake in step.wakes.items():
            self._memory.woke(deployment_uid, now)
            self._cluster.start(wake)

    def _go(self, ref: PodRef, decision: Go, now: datetime) -> None:
        attempt = self._attempts.get(ref) or Attempt(ref)
        self._attempts[ref] = attempt.asking(decision.ask, decision.versions, now)
        self._cluster.start(decision.ask)

    # --- answers

    def answered(self, answer: Answer) -> None:
        """The answer to one of its requests."""
        match answer.action:
            case Evict() | Delete() as ask:
                self._attempts[ask.pod] = self._attempts[ask.pod].answered(ask, answer.result, answer.at)
                verb = "evicting" if isinstance(ask, Evict) else "deleting"
                for drain in self._with(ask.pod):
                    drain.chronicle.answered(ask, answer.result, answer.at)
                    drain.trouble(problem_of(answer.result, f"{verb} pods of {drain.node_name}"), answer.at)
            case Release() as ask:
                self._memory.answered(ask, self._pods.get(ask.pod), answer.result, answer.at)
                for drain in self._with(ask.pod):
                    drain.chronicle.release_answered(ask, answer.result, answer.at)
                    drain.trouble(problem_of(answer.result, f"releasing pods of {drain.node_name}"), answer.at)
            case ObserveWorkloads() | CheckGuard():
                problem = self._watch.answered(answer)
                for drain in self._drains:
                    if drain.node_name and self._settings.release is not ReleaseMode.OFF:
                        drain.trouble(problem, answer.at)
            case Wake():
                pass  # it is repeated for as long as it is wanted
            case _:
                pass

    def _with(self, pod: PodRef) -> list[NodeDrain]:
        return [drain for drain in self._drains if pod in drain.chronicle.stories]
