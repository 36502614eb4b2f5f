"""All nodes of one invocation, drained side by side in one loop.

Law: observe, decide for all of them, hand actions over, wait. Nothing here blocks but `Cluster.wait`, so no node waits
for another's slow call, and under a virtual clock every run repeats.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby

from lambdas.application.capacity import CapacityRequests
from lambdas.application.lookups import Lookups
from lambdas.application.message_hold import MessageHold
from lambdas.application.node_drain import NodeDrain, Phase
from lambdas.application.pod_moves import PodMoves
from lambdas.application.requests import Fate, Ports, Request
from lambdas.application.telling import PatientReporter
from lambdas.domain.errors import PortError
from lambdas.domain.values.actions import Announce, Cordon, ExcludeFromLoadBalancers, Locate, Observe
from lambdas.domain.values.answers import Answer
from lambdas.domain.values.drains import Ending, Problem, Trouble
from lambdas.domain.values.notices import Notice
from lambdas.domain.values.observation import Observation
from lambdas.domain.values.settings import Settings

_log = logging.getLogger(__name__)

_LONGEST_WAIT = timedelta(seconds=5)


def evacuate(
    requests: Sequence[Request],
    ports: Ports,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    *,
    owner: str = "evac",
    until: datetime | None = None,
    also_hold: Sequence[str] = (),
) -> list[Fate]:
    """Work on every request until each has its fate.

    At `until` (the invocation's end) what is unfinished is given back. Never raises for one request's sake. Several
    requests for one instance become one drain: the earliest reclaim wins. `also_hold`: messages of the same batch that
    need no drain, kept invisible until this returns.
    """
    ports = replace(ports, reporter=PatientReporter(ports.reporter))
    return _Evacuation(requests, ports, settings, owner, also_hold).run(until)


class _Evacuation:
    def __init__(
        self, requests: Sequence[Request], ports: Ports, settings: Settings, owner: str, also_hold: Sequence[str]
    ) -> None:
        self._ports = ports
        by_instance = groupby(sorted(requests, key=_instance_of), key=_instance_of)
        self._drains = [NodeDrain(list(group), ports, settings, owner) for _, group in by_instance]
        self._lookups = Lookups(self._drains, ports.directory, ports.background)
        self._moves = PodMoves(self._drains, ports, settings)
        messages = [*also_hold, *(m for r in requests for m in r.message_ids)]
        self._hold = MessageHold(messages, ports.messages, ports.background)

    def run(self, until: datetime | None) -> list[Fate]:
        while True:
            now = self._ports.clock.now()
            self._collect_background(now)
            wakes = self._step(now, self._ports.cluster.observe(), until)
            if all(drain.is_finished(now) for drain in self._drains):
                break
            if not self._collect_background(now):
                for answer in self._ports.cluster.wait(min(wakes)):
                    self._answered(answer)
        return [drain.fate(request) for drain in self._drains for request in drain.requests]

    def _step(self, now: datetime, observation: Observation, until: datetime | None) -> list[datetime]:
        """Everything that is due now; the moments at which something else will be."""
        wakes = [now + _LONGEST_WAIT, *self._hold.advance(now)]
        if until is not None:
            self._give_back_what_is_unfinished(until, now)
            wakes.append(until)
        for drain in self._drains:
            wakes += drain.begin_when_due(now)
        wakes += self._lookups.advance(now)
        for drain in self._drains:
            wakes += self._advance(drain, now, observation)
        wakes += self._moves.advance(now, observation)
        return [wake for wake in wakes if wake > now]

    @staticmethod
    def _advance(drain: NodeDrain, now: datetime, observation: Observation) -> list[datetime]:
        """A fault of ours in one drain ends that one, which is given back; the others go on."""
        try:
            return drain.advance(now, observation)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other nodes have two minutes too
            _log.exception("a fault in the drain of %s", drain.notice.instance_id)
            fault = f"a fault in evac: {type(error).__name__}: {error}"
            drain.end(Ending.FAILED, now, Problem(Trouble.API, fault))
            return []

    def _give_back_what_is_unfinished(self, until: datetime, now: datetime) -> None:
        for drain in self._drains:
            if now >= until and drain.phase is not Phase.ENDED:
                drain.end(Ending.FAILED, now, Problem(Trouble.API, _why_unfinished(drain.notice)))

    def _answered(self, answer: Answer) -> None:
        match answer.action:
            case Locate(instance_id):
                for drain in self._drains:
                    if drain.notice.instance_id == instance_id:
                        drain.answered(answer)
            case Observe() | Cordon() | ExcludeFromLoadBalancers() | Announce() as of_node:
                for drain in self._drains:
                    if drain.node_name == of_node.node_name:
                        drain.answered(answer)
            case _:
                self._moves.answered(answer)

    def _collect_background(self, now: datetime) -> bool:
        """Hand out what the calls beside the drain brought; whether there was anything."""
        finished = self._ports.background.finished()
        for key, value in finished:
            match key:
                case ("describe", tuple() as ids):
                    self._lookups.answered(ids, value, now)
                case (_, str(instance_id)):
                    for drain in self._drains:
                        if drain.notice.instance_id == instance_id:
                            drain.background_answered(key, value, now)
                case (CapacityRequests.KEY, _) if isinstance(value, PortError):
                    for drain in self._drains:
                        drain.trouble(Problem(Trouble.API, f"no room could be asked for: {value}"), now)
                case MessageHold.KEY if isinstance(value, PortError):
                    for drain in self._drains:
                        drain.trouble(Problem(Trouble.MESSAGES, str(value)), now)
                case _:
                    pass
        return bool(finished)


def _why_unfinished(notice: Notice) -> str:
    if not notice.takes_the_host:
        return "its time is up, and pods are still there"
    return "the invocation's time is up: the notice is given back, another goes on"


def _instance_of(request: Request) -> str:
    return request.notice.instance_id
