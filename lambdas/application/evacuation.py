"""All nodes of one invocation, drained side by side in one loop.

Law: observe, decide for all of them, hand actions over, wait. Nothing here blocks but `Cluster.wait`, so no node waits
for another's slow call, and under a virtual clock every run repeats.
"""

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from lambdas.application.node_drain import NodeDrain, Phase
from lambdas.application.requests import Fate, Ports, Request
from lambdas.contract import MESSAGE_VISIBILITY_SECONDS
from lambdas.domain.decisions.attempts import Attempt
from lambdas.domain.decisions.cures import problem_of
from lambdas.domain.decisions.plan import Go, plan
from lambdas.domain.errors import PortError
from lambdas.domain.values.actions import Delete, Evict, Locate, Restore
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.drains import DrainRecord, Ending, Problem, Trouble
from lambdas.domain.values.kubernetes import Budget, PodRef
from lambdas.domain.values.notices import Instance
from lambdas.domain.values.observation import Freshness, Listing, Observation
from lambdas.domain.values.settings import Settings

_VISIBILITY = timedelta(seconds=MESSAGE_VISIBILITY_SECONDS)
_PATIENCE_WITH_EC2 = timedelta(seconds=1)
_PATIENCE_WHERE_EC2_DECIDES = timedelta(seconds=6)
_PATIENCE_WITH_BUDGETS = timedelta(seconds=1)
_WRITING_DOWN = timedelta(seconds=2)
_HOLD = "hold"


def evacuate(
    requests: Sequence[Request],
    ports: Ports,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    owner: str = "evac",
    until: datetime | None = None,
    also_hold: Sequence[str] = (),
) -> list[Fate]:
    """Work on every request until each has its fate; at `until` (the invocation's end) what is unfinished is given back.

    Never raises for one request's sake. Several requests for one instance become one drain: the earliest reclaim wins.
    `also_hold`: messages of the same batch that need no drain, kept invisible until this returns.
    """
    return _Evacuation(requests, ports, settings, owner, until, also_hold).run()


class _Evacuation:
    def __init__(
        self,
        requests: Sequence[Request],
        ports: Ports,
        settings: Settings,
        owner: str,
        until: datetime | None,
        also_hold: Sequence[str],
    ) -> None:
        self._ports = ports
        self._settings = settings
        self._until = until
        self._messages = sorted({*also_hold, *(m for r in requests for m in r.message_ids)})
        by_instance = groupby(sorted(requests, key=_instance_of), key=_instance_of)
        self._drains = [NodeDrain(list(group), ports, settings, owner) for _, group in by_instance]
        self._attempts: dict[PodRef, Attempt] = {}
        self._reasons: dict[PodRef, str] = {}
        self._unanswered = 0
        self._looked_up_at: dict[str, datetime] = {}
        self._held_at: datetime | None = None
        self._first_seen_at: datetime | None = None
        self._written: dict[Hashable, object] = {}

    def run(self) -> list[Fate]:
        while True:
            now = self._ports.clock.now()
            self._collect_background(now)
            observation = self._ports.cluster.observe()
            wakes = self._step(now, observation)
            if self._is_finished(now):
                break
            if self._collect_background(now):
                continue
            for answer in self._ports.cluster.wait(min(wakes)):
                self._answered(answer)
        return [self._fate(request, drain) for drain in self._drains for request in drain.requests]

    # --- one step

    def _step(self, now: datetime, observation: Observation) -> list[datetime]:
        wakes = [now + timedelta(seconds=5), *self._hold_messages(now)]
        if self._until is not None:
            self._give_back_when_time_is_up(self._until, now)
            wakes.append(self._until)
        wakes += self._begin(now)
        wakes += self._look_up(now)
        for drain in self._drains:
            wakes += drain.advance(now, observation)
            if drain.phase in (Phase.LOCATING, Phase.DRAINING):
                wakes.append(drain.ends_at)
        wakes += self._move_pods(now, observation)
        return [w for w in wakes if w > now] or [now + timedelta(seconds=1)]

    def _begin(self, now: datetime) -> list[datetime]:
        later = []
        for drain in self._drains:
            if drain.phase is Phase.ASLEEP:
                start = min((r.not_before or now for r in drain.requests), default=now)
                if start <= now:
                    drain.begin(now)
                else:
                    later.append(start)
        return later

    def _hold_messages(self, now: datetime) -> list[datetime]:
        messages = self._ports.messages
        if messages is None or not self._messages:
            return []
        if self._held_at is None or self._held_at + _VISIBILITY / 3 <= now:
            self._held_at = now
            self._ports.background.start(_HOLD, lambda: messages.hold(self._messages, _VISIBILITY))
        return [self._held_at + _VISIBILITY / 3]

    def _give_back_when_time_is_up(self, until: datetime, now: datetime) -> None:
        if now < until:
            return
        for drain in self._drains:
            if drain.phase is not Phase.ENDED:
                problem = Problem(Trouble.API, "the invocation's time is up; the notice is given back, another goes on")
                drain.end(Ending.FAILED, now, problem)

    # --- EC2

    def _look_up(self, now: datetime) -> list[datetime]:
        """One call for all that have begun; who has waited long enough goes on without it."""
        waiting = [d for d in self._drains if d.phase is Phase.LOOKING_UP]
        directory = self._ports.directory
        if directory is None:
            for drain in waiting:
                drain.looked_up(None, now, was_asked=False)
            return []
        new = [d.notice.instance_id for d in waiting if d.notice.instance_id not in self._looked_up_at]
        if new:
            self._looked_up_at.update(dict.fromkeys(new, now))
            key = ("describe", tuple(new))
            self._ports.background.start(key, lambda: directory.describe(new))
        wakes = []
        for drain in waiting:
            patience = _PATIENCE_WHERE_EC2_DECIDES if drain.may_be_stale else _PATIENCE_WITH_EC2
            end = self._looked_up_at[drain.notice.instance_id] + patience
            if end <= now:
                drain.trouble(Problem(Trouble.DIRECTORY, "EC2 did not answer in time; the node is listed instead"), now)
                drain.looked_up(None, now, was_asked=False)
            wakes.append(end)
        return wakes

    def _described(self, ids: Iterable[str], value: object, now: datetime) -> None:
        for drain in self._drains:
            if drain.notice.instance_id not in ids:
                continue
            if isinstance(value, dict):
                instance = value.get(drain.notice.instance_id)
                drain.looked_up(instance if isinstance(instance, Instance) else None, now, was_asked=True)
            else:
                drain.trouble(Problem(Trouble.DIRECTORY, f"{value} The node is looked for without EC2."), now)
                drain.looked_up(None, now, was_asked=False)

    # --- pods

    def _move_pods(self, now: datetime, observation: Observation) -> list[datetime]:
        doomed = [d for drain in self._drains for d in drain.doomed(observation, now)]
        if not doomed:
            return []
        budgets, wakes = self._budgets(observation, now)
        step = plan(doomed, budgets, self._attempts, self._settings, now)
        by_node = {drain.node_name: drain for drain in self._drains if drain.node_name}
        for d in doomed:
            ref = d.pod.ref
            decision = step.decisions[ref]
            by_node[d.node_name].chronicle.decided(ref, decision, now)
            if isinstance(decision, Go):
                attempt = self._attempts.get(ref) or Attempt(ref)
                self._attempts[ref] = attempt.asking(decision.ask, decision.versions, now)
                self._reasons[ref] = decision.reason
        # In the plan's order, not the listing's: what is most urgent is first in the pool's queue.
        for decision in step.decisions.values():
            if isinstance(decision, Go):
                self._ports.cluster.start(decision.ask)
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

    # --- answers

    def _answered(self, answer: Answer) -> None:
        match answer.action:
            case Evict() | Delete() as ask:
                self._answered_pod(ask, answer)
            case Locate(instance_id):
                for drain in self._drains:
                    if drain.notice.instance_id == instance_id:
                        drain.answered(answer)
            case Restore():
                pass
            case other:
                for drain in self._drains:
                    if drain.node_name == other.node_name:
                        drain.answered(answer)

    def _answered_pod(self, ask: Evict | Delete, answer: Answer) -> None:
        attempt = self._attempts[ask.pod].answered(ask, answer.result, answer.at)
        self._attempts[ask.pod] = attempt
        for drain in self._drains:
            if ask.pod in drain.chronicle.stories:
                drain.chronicle.answered(ask, answer.result, self._reasons.get(ask.pod, ""), answer.at)
                verb = "evicting" if isinstance(ask, Evict) else "deleting"
                drain.trouble(problem_of(answer.result, f"{verb} pods of {drain.node_name}"), answer.at)

    def _collect_background(self, now: datetime) -> bool:
        finished = self._ports.background.finished()
        for key, value in finished:
            match key:
                case ("describe", tuple() as ids):
                    self._described(ids, value, now)
                case ("lock", instance_id):
                    for drain in self._drains:
                        if drain.notice.instance_id == instance_id:
                            drain.lock.answered(value, now)
                case "hold" if isinstance(value, PortError):
                    for drain in self._drains:
                        drain.trouble(Problem(Trouble.MESSAGES, str(value)), now)
                case _:
                    self._written[key] = value
        return bool(finished)

    # --- the end

    def _is_finished(self, now: datetime) -> bool:
        """Every drain has ended, and what is written down has been, or has had its time."""
        if any(drain.phase is not Phase.ENDED for drain in self._drains):
            return False
        return all(self._is_written(drain, now) for drain in self._drains)

    def _is_written(self, drain: NodeDrain, now: datetime) -> bool:
        record = drain.record
        if record is None or record.ended_at is None:
            return True
        is_owed = drain.is_writing and drain.finish_key not in self._written
        return not is_owed or now >= record.ended_at + _WRITING_DOWN

    def _fate(self, request: Request, drain: NodeDrain) -> Fate:
        record = drain.record
        assert record is not None, "every drain has ended"  # noqa: S101 - run() returns only then
        return Fate(request, self._with_ledger_trouble(record, drain), record.ending is not Ending.FAILED)

    def _with_ledger_trouble(self, record: DrainRecord, drain: NodeDrain) -> DrainRecord:
        if not drain.is_writing:
            return record
        value = self._written.get(drain.finish_key, "no answer in time.")
        if value is None:
            return record
        return drain.with_problem(Problem(Trouble.LEDGER, f"the record was not written down: {value}"))


def _instance_of(request: Request) -> str:
    return request.notice.instance_id
