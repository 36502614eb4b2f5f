"""The process dies half-way, or two are told of the same node: another goes on from what it sees."""

from datetime import datetime, timedelta

import pytest

from evac.memory import CollectingReporter, InlineBackground, MemoryLease, MemoryLedger
from evac.simulator import Simulation
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Fate, Ports, Request
from lambdas.domain.errors import PassingError
from lambdas.domain.values.drains import Ending, Trouble
from lambdas.domain.values.notices import Notice
from tests.scenarios.stage import notice
from tests.scenes import at, budget, deployment, node, times


class Killed(BaseException):
    """SIGKILL: nothing of the process runs after it."""


class Invocations:
    """Several invocations on one cluster and one ledger."""

    def __init__(self) -> None:
        web = deployment("web", {"spot-a": 8, "od-1": 12}, annotations=times(4, 2))
        shut = budget("web", {"app": "web"}, maxUnavailable=1)
        self.simulation = Simulation([node("spot-a"), node("od-1"), *web, shut], at(-1))
        self.simulation.run_until(at(0))
        self.simulation.reclaim("spot-a", at(120))
        self.ledger = MemoryLedger()
        self.lease = MemoryLease()

    def invoke(self, owner: str, until: datetime | None = None, of: Notice | None = None) -> Fate:
        ports = Ports(
            self.simulation.clock,
            self.simulation.cluster(),
            InlineBackground(),
            CollectingReporter(),
            ledger=self.ledger,
            messages=self.lease,
        )
        [fate] = evacuate([Request(of or notice(), (f"m-{owner}",))], ports, owner=owner, until=until)
        return fate

    def kill_at(self, moment: datetime) -> None:
        def die() -> None:
            raise Killed

        self.simulation.schedule(moment, die)


@pytest.mark.parametrize("second", [0.005, 0.02, 0.045, 3, 4.07, 6])
def test_killed_at_any_moment_another_goes_on_within_20_s_and_every_pod_leaves_gracefully(second: float) -> None:
    world = Invocations()
    world.kill_at(at(second))
    with pytest.raises(Killed):
        world.invoke("first")
    fate = world.invoke("second")
    assert fate.record.ending is Ending.DRAINED
    stories = world.simulation.journal.on("spot-a")
    assert all(story.was_graceful for story in stories)
    after = [s.signalled_at for s in stories if s.signalled_at and s.signalled_at > at(second)]
    assert min(after) < at(second + 20)
    assert fate.is_settled


def test_what_is_unfinished_when_time_is_up_is_given_back_and_gone_on_with() -> None:
    world = Invocations()
    first = world.invoke("first", until=at(10))
    assert (first.record.ending, first.is_settled) == (Ending.FAILED, False)
    assert "time is up" in first.record.problems[-1].message
    assert world.invoke("second").record.ending is Ending.DRAINED


def test_a_second_event_for_a_node_drained_meanwhile_joins_it() -> None:
    world = Invocations()
    assert world.invoke("first").record.ending is Ending.DRAINED
    again = world.invoke("second")
    assert (again.record.ending, again.is_settled) == (Ending.JOINED, True)


def test_a_new_notice_after_a_drain_begins_anew() -> None:
    world = Invocations()
    ended = world.invoke("first").record.ended_at
    assert ended
    seconds = (ended - at(0)).total_seconds() + 1
    again = world.invoke("second", of=notice("spot-a", seconds))
    assert again.record.ending is Ending.DRAINED


def test_a_ledger_that_is_away_keeps_nobody_and_is_said() -> None:
    world = Invocations()
    world.ledger.error = PassingError("DynamoDB is away.")
    fate = world.invoke("first")
    assert fate.record.ending is Ending.DRAINED
    assert {p.trouble for p in fate.record.problems} == {Trouble.LEDGER}
    assert fate.record.first_action_at
    assert fate.record.first_action_at - at(0) < timedelta(seconds=0.3)


def test_a_queue_that_refuses_the_lease_keeps_nobody_and_is_said() -> None:
    world = Invocations()
    world.lease.error = PassingError("SQS is away.")
    fate = world.invoke("first")
    assert fate.record.ending is Ending.DRAINED
    assert {p.trouble for p in fate.record.problems} == {Trouble.MESSAGES}
