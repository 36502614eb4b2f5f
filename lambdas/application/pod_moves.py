"""The pods of all draining nodes: planned together, asked for, and remembered."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from lambdas.application.node_drain import NodeDrain
from lambdas.application.ports import Cluster
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.cures import problem_of
from lambdas.domain.decisions.pacing import Tides
from lambdas.domain.decisions.plan import Plan, plan
from lambdas.domain.decisions.steps import Doomed, Go
from lambdas.domain.values.actions import Delete, Evict
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.kubernetes import Budget, BudgetRef, PodRef
from lambdas.domain.values.observation import Freshness, Listing, Observation
from lambdas.domain.values.settings import Settings

_PATIENCE_WITH_BUDGETS = timedelta(seconds=1)


class PodMoves:
    """Carries out one plan after the other; what it remembers of answers is part of what the next plan sees."""

    def __init__(self, drains: Sequence[NodeDrain], cluster: Cluster, settings: Settings) -> None:
        self._drains = drains
        self._cluster = cluster
        self._settings = settings
        self._attempts: dict[PodRef, Attempt] = {}
        self._first_seen_at: datetime | None = None
        self._tides = Tides()

    def advance(self, now: datetime, observation: Observation) -> list[datetime]:
        """Plan for what is observed now and hand over what goes; when to look again."""
        by_node = {drain.node_name: drain for drain in self._drains if drain.node_name}
        doomed = [d for drain in self._drains for d in drain.doomed(observation, now)]
        if not doomed:
            return []
        budgets, wakes = self._budgets(observation, now)
        self._tides.saw(budgets.items, self._touched())
        step = plan(doomed, budgets, self._attempts, self._settings, now, self._tides.recovered)
        self._tell(doomed, step, by_node, now)
        for ref, decision in step.decisions.items():
            if isinstance(decision, Go):
                self._go(ref, decision, now)
        return wakes + ([step.look_again_at] if step.look_again_at else [])

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
            by_node[d.node_name].chronicle.decided(d.pod.ref, step.decisions[d.pod.ref], now)

    def _go(self, ref: PodRef, decision: Go, now: datetime) -> None:
        attempt = self._attempts.get(ref) or Attempt(ref)
        self._attempts[ref] = attempt.asking(decision.ask, decision.versions, now)
        self._cluster.start(decision.ask)

    def answered(self, ask: Evict | Delete, answer: Answer) -> None:
        """The answer to one of its requests."""
        self._attempts[ask.pod] = self._attempts[ask.pod].answered(ask, answer.result, answer.at)
        for drain in self._drains:
            if ask.pod in drain.chronicle.stories:
                drain.chronicle.answered(ask, answer.result, answer.at)
                verb = "evicting" if isinstance(ask, Evict) else "deleting"
                drain.trouble(problem_of(answer.result, f"{verb} pods of {drain.node_name}"), answer.at)
