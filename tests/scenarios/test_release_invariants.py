"""What holds for every drain that replaces before it evicts, whatever the workloads, the budgets, room and faults."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evac.memory import CollectingReporter, InlineBackground, MemoryLedger
from evac.simulator import Key, Killed, Simulation, SimulatorOptions
from evac.simulator.port import SimulatedCluster
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.actions import Action, Delete, Evict
from lambdas.domain.values.answers import Answer, Done
from lambdas.domain.values.kubernetes import PodRef
from tests.scenarios.stage import notice
from tests.scenes import Json, at, budget, deployment, node, stateful_set, times

SPOTS = ("spot-a", "spot-b")
SURGES: st.SearchStrategy[int | str] = st.sampled_from([0, 1, 2, "25%", "100%"])
LIMITS: st.SearchStrategy[int | str | None] = st.sampled_from([None, 1, 2, "50%"])
QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@dataclass
class App:
    """One workload of a scene."""

    name: str
    kind: str
    places: dict[str, int]
    surge: int | str
    startup: int
    grace: int
    most_unavailable: int | str | None

    @property
    def replicas(self) -> int:
        return sum(self.places.values())

    @property
    def doomed(self) -> int:
        return sum(count for place, count in self.places.items() if place in SPOTS)

    @property
    def last_safe(self) -> float:
        return 115.0 - min(self.grace, 60)

    @property
    def is_released(self) -> bool:
        return self.kind == "deployment" and self.surge not in (0, "0%")

    def objects(self) -> list[Json]:
        of: dict[str, Any] = {"grace": self.grace, "annotations": times(self.startup, 2)}
        if self.kind == "deployment":
            made = deployment(self.name, self.places, surge=self.surge, **of)
        else:
            where = [place for place, count in self.places.items() for _ in range(count)]
            made = stateful_set(self.name, where, **of)
        if self.most_unavailable is not None:
            made.append(budget(self.name, {"app": self.name}, maxUnavailable=self.most_unavailable))
        return made


@st.composite
def apps(draw: st.DrawFn) -> list[App]:
    found = []
    for name in draw(st.sets(st.sampled_from("abc"), min_size=1)):
        places = {
            "spot-a": draw(st.integers(0, 6)),
            "spot-b": draw(st.integers(0, 3)),
            "od-1": draw(st.integers(0, 3)),
        }
        places["spot-a"] += not sum(places.values())
        found.append(
            App(
                name,
                draw(st.sampled_from(["deployment", "deployment", "stateful set"])),
                {place: count for place, count in places.items() if count},
                draw(SURGES),
                draw(st.sampled_from([1, 5, 20, 50])),
                draw(st.sampled_from([10, 30, 60, 300])),
                draw(LIMITS),
            )
        )
    return sorted(found, key=lambda app: app.name)


class Watched:
    """A cluster port that keeps count of SIGTERMs that were accepted, by pod."""

    def __init__(self, port: SimulatedCluster, signals: Counter[PodRef]) -> None:
        self._port = port
        self._signals = signals

    def start(self, action: Action) -> None:
        self._port.start(action)

    def wait(self, until: datetime) -> Sequence[Answer]:
        answers = self._port.wait(until)
        for answer in answers:
            if isinstance(answer.action, Evict | Delete) and isinstance(answer.result, Done):
                self._signals[answer.action.pod] += 1
        return answers

    def observe(self) -> Any:
        return self._port.observe()

    def wake(self) -> None:
        self._port.wake()

    def close(self) -> None:
        self._port.close()

    def kill(self) -> None:
        self._port.kill()


@dataclass
class Drained:
    """A drain of both spot nodes, by one invocation each, and what truly happened."""

    simulation: Simulation
    apps: list[App]
    signals: Counter[PodRef] = field(default_factory=Counter)

    def short(self, app: App, until: float) -> int:
        kind = "Deployment" if app.kind == "deployment" else "StatefulSet"
        return self.simulation.history.most_short(Key(kind, "default", app.name), at(0), at(until))

    def healthy_below(self, app: App, until: float) -> int:
        """By how many the budget was exceeded before then."""
        levels = self.simulation.history.levels_over_time(Key("PodDisruptionBudget", "default", app.name))
        return max((wanted - ready for moment, ready, wanted in levels if at(0) <= moment < at(until)), default=0)

    def lost(self) -> list[str]:
        return [s.pod.name for spot in SPOTS for s in self.simulation.journal.on(spot) if s.killed_at]

    def left_released(self) -> list[str]:
        pods = self.simulation.list("Pod")
        return [p["metadata"]["name"] for p in pods if LABEL_RELEASED in p["metadata"].get("labels", {})]


def drain_both(
    drawn: list[App],
    room_at: float = 0,
    kills: Sequence[float] = (),
    prepare: Any = lambda simulation: None,
) -> Drained:
    """Both nodes noticed at 0, each in an invocation of its own; each dies at every moment of `kills`, and another
    goes on as its message is seen again, 15 s later."""
    objects = [thing for app in drawn for thing in app.objects()]
    pods_there = sum(app.places.get("od-1", 0) for app in drawn)
    simulation = Simulation(
        [node("spot-a"), node("spot-b"), node("od-1", pods=110 if not room_at else pods_there), *objects],
        at(-1),
        options=SimulatorOptions(node_removed_after=timedelta(seconds=5)),
    )
    simulation.run_until(at(0))
    if room_at:
        simulation.schedule(at(room_at), lambda: simulation.apply(node("od-2")))
    for spot in SPOTS:
        simulation.reclaim(spot, at(120))
    prepare(simulation)
    drained = Drained(simulation, drawn)
    ledger = MemoryLedger()

    def invoke(spot: str) -> None:
        for life, kill in enumerate([*sorted(kills), None]):
            port = Watched(simulation.cluster(), drained.signals)
            if kill is not None:
                simulation.schedule(max(at(kill), simulation.clock.now()), port.kill)
            ports = Ports(simulation.clock, port, InlineBackground(), CollectingReporter(), ledger=ledger)
            try:
                evacuate([Request(notice(spot))], ports, owner=f"{spot}-{life}")
            except Killed:
                patient = simulation.cluster()
                patient.wait(simulation.clock.now() + timedelta(seconds=15))
                patient.close()
                continue
            return

    simulation.side_by_side(lambda: invoke("spot-a"), lambda: invoke("spot-b"))
    simulation.run_until(at(130))
    return drained


@settings(QUIET, max_examples=60)
@given(apps(), st.sampled_from([0, 0, 20, 60]))
def test_no_pod_is_lost_and_none_is_left_released_or_signalled_twice(drawn: list[App], room_at: float) -> None:
    drained = drain_both(drawn, room_at)
    assert drained.lost() == []
    assert drained.left_released() == []
    assert all(count == 1 for count in drained.signals.values())


@settings(QUIET, max_examples=60)
@given(apps(), st.sampled_from([0, 0, 20, 60]))
def test_a_workload_that_may_be_released_is_never_short_before_a_last_safe_moment(
    drawn: list[App], room_at: float
) -> None:
    drained = drain_both(drawn, room_at)
    for app in drawn:
        if app.is_released:
            assert drained.short(app, app.last_safe - 0.1) == 0, app


@settings(QUIET, max_examples=60)
@given(apps(), st.sampled_from([0, 0, 20]))
def test_a_stateful_sets_budget_is_never_exceeded_before_a_last_safe_moment(drawn: list[App], room_at: float) -> None:
    drained = drain_both(drawn, room_at)
    for app in drawn:
        if app.kind == "stateful set" and app.most_unavailable is not None:
            assert drained.healthy_below(app, app.last_safe - 0.1) <= 0, app


@settings(QUIET, max_examples=60)
@given(apps())
def test_a_budget_that_can_be_kept_to_the_end_is_never_exceeded_and_any_other_by_the_pace(drawn: list[App]) -> None:
    drained = drain_both(drawn)
    for app in drawn:
        if app.most_unavailable is None or app.kind != "deployment" or not app.doomed:
            continue
        exceeded = drained.healthy_below(app, app.last_safe - 0.1)
        if app.is_released:
            assert exceeded <= 0, app
            continue
        allows = _allows(app)
        needed = _at_once(app.doomed, app.last_safe, app.startup)
        slack = _at_once(app.doomed, app.last_safe * 0.9, app.startup + 1)
        if needed is not None and slack is not None and slack <= allows:
            assert exceeded <= 0, app
        elif slack is not None:
            assert exceeded <= max(0, slack - allows) + 1, app


def _at_once(pods: int, left: float, startup: float) -> int | None:
    """How many must be missing at a time, so that all are out in the rounds that are left; None where none is."""
    rounds = int(left // startup)
    return -(-pods // (rounds + 1)) if rounds else None


def _allows(app: App) -> int:
    if isinstance(app.most_unavailable, str):
        return -(-app.replicas * int(app.most_unavailable[:-1]) // 100)
    return app.most_unavailable or 0


@settings(QUIET, max_examples=40)
@given(apps(), st.lists(st.floats(0, 60), min_size=1, max_size=3))
def test_killed_and_taken_over_at_any_moments_the_same_holds(drawn: list[App], kills: list[float]) -> None:
    drained = drain_both(drawn, kills=kills)
    assert drained.lost() == []
    assert drained.left_released() == []
    assert all(count == 1 for count in drained.signals.values())
    for app in drawn:
        if app.is_released:
            assert drained.short(app, app.last_safe - 0.1) == 0, app


@settings(QUIET, max_examples=40)
@given(apps(), st.integers(3, 12))
def test_with_every_nth_answer_a_500_nothing_is_lost_or_left(drawn: list[App], every: int) -> None:
    drained = drain_both(drawn, prepare=lambda simulation: simulation.faults.failing(every=every))
    assert drained.lost() == []
    assert drained.left_released() == []


@settings(QUIET, max_examples=30)
@given(apps())
def test_a_budget_shared_by_all_lets_no_workload_pay_for_another(drawn: list[App]) -> None:
    for app in drawn:
        app.most_unavailable = None

    def shared(simulation: Simulation) -> None:
        simulation.apply(budget("all", {}, maxUnavailable=1))

    drained = drain_both(drawn, prepare=shared)
    for app in drawn:
        if app.is_released:
            assert drained.short(app, app.last_safe - 0.1) == 0, app
    assert drained.lost() == []
