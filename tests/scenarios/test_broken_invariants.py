"""What holds for every drain, by wider scenes: more apps, shared budgets, scaling, rollouts, unready pods, late
begins, late watches, answers of all kinds."""

import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from evac.memory import CollectingReporter, InlineBackground, MemoryLedger
from evac.simulator import Key, Killed, Simulation, SimulatorOptions
from evac.simulator.faults import Fault
from lambdas.application.evacuation import evacuate
from lambdas.application.requests import Ports, Request
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.answers import Conflict, Passing, Throttled, Unknown
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.scenarios.stage import notice
from tests.scenarios.test_release_invariants import Watched
from tests.scenes import Json, at, autoscaler, budget, deployment, node, quota, times

MANY = int(os.environ.get("EXAMPLES", "100"))
QUIET = settings(deadline=None, max_examples=MANY, suppress_health_check=list(HealthCheck))
SPOTS = ("spot-a", "spot-b")


@dataclass
class Wide:
    name: str
    places: dict[str, int]
    surge: Any
    startup: int
    shutdown: int
    grace: int
    rule: dict[str, Any] | None
    min_ready: int
    hpa: bool
    unready: int
    scale: tuple[float, int] | None
    rollout: float | None

    @property
    def replicas(self) -> int:
        return sum(self.places.values())

    @property
    def is_released(self) -> bool:
        return self.surge not in (0, "0%")

    @property
    def last_safe(self) -> float:
        return 115.0 - min(self.grace, 60)

    def objects(self) -> list[Json]:
        made = deployment(self.name, self.places, surge=self.surge, grace=self.grace, annotations=times(self.startup, self.shutdown))
        made[0]["spec"]["minReadySeconds"] = self.min_ready
        for one in made[2 : 2 + self.unready]:
            one["status"]["conditions"][1]["status"] = "False"
        if self.rule:
            made.append(budget(self.name, {"app": self.name}, **self.rule))
        if self.hpa:
            made.append(autoscaler(self.name, least=1, most=100))
        return made


@st.composite
def wides(draw: st.DrawFn, *, events: bool, hpas: bool, unready: bool) -> list[Wide]:
    found = []
    for name in sorted(draw(st.sets(st.sampled_from("abcde"), min_size=1, max_size=4))):
        places = {spot: draw(st.integers(0, 6)) for spot in SPOTS} | {"od-1": draw(st.integers(0, 4))}
        places["spot-a"] += not sum(places.values())
        places = {k: v for k, v in places.items() if v}
        total = sum(places.values())
        found.append(
            Wide(
                name,
                places,
                draw(st.sampled_from([1, 1, 2, "25%", "100%", 0])),
                draw(st.sampled_from([1, 3, 10, 20, 40])),
                draw(st.sampled_from([1, 2, 8])),
                draw(st.sampled_from([10, 30, 45, 60, 300])),
                draw(st.sampled_from([None, {"maxUnavailable": 1}, {"minAvailable": 1}, {"maxUnavailable": "25%"}, {"maxUnavailable": 0}, {"minAvailable": "100%"}, {"minAvailable": total}])),
                draw(st.sampled_from([0, 0, 5])),
                hpas and draw(st.booleans()),
                draw(st.integers(0, 2)) if unready else 0,
                draw(st.one_of(st.none(), st.tuples(st.floats(0.02, 80), st.integers(0, total + 3)))) if events else None,
                draw(st.one_of(st.none(), st.floats(0.02, 60))) if events else None,
            )
        )
    return found


@dataclass
class Scene:
    apps: list[Wide]
    simulation: Simulation
    signals: Counter[PodRef] = field(default_factory=Counter)
    records: list[Any] = field(default_factory=list)

    def short(self, app: Wide, until: float) -> int:
        return self.simulation.history.most_short(Key("Deployment", "default", app.name), at(0), at(until))

    def lost(self) -> list[str]:
        return [s.pod.name for spot in SPOTS for s in self.simulation.journal.on(spot) if s.killed_at]

    def left(self) -> list[str]:
        return [p["metadata"]["name"] for p in self.simulation.list("Pod") if LABEL_RELEASED in p["metadata"].get("labels", {})]


def run(
    drawn: list[Wide],
    *,
    begins: tuple[float, float] = (0, 0),
    prepare: Any = lambda _: None,
    extra: list[Json] | None = None,
    how: Settings = Settings(),
    kills: tuple[float, ...] = (),
    ledger: bool = True,
    twice: bool = False,
) -> Scene:
    objects = [node("spot-a"), node("spot-b"), node("od-1"), *(o for a in drawn for o in a.objects()), *(extra or [])]
    simulation = Simulation(objects, at(-1), options=SimulatorOptions(node_removed_after=timedelta(seconds=5)))
    simulation.run_until(at(0))
    for spot in SPOTS:
        simulation.reclaim(spot, at(120))
    for app in drawn:
        if app.scale:
            moment, to = app.scale
            simulation.schedule(at(moment), lambda a=app, n=to: simulation.patch("Deployment", "default", a.name, {"spec": {"replicas": n}}))
        if app.rollout is not None:
            change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
            simulation.schedule(at(app.rollout), lambda a=app, c=change: simulation.patch("Deployment", "default", a.name, c))
    prepare(simulation)
    scene = Scene(drawn, simulation)
    books = MemoryLedger() if ledger else None

    def invoke(spot: str, begin: float, who: str) -> None:
        patient = simulation.cluster()
        if begin:
            patient.wait(at(begin))
        patient.close()
        for life, kill in enumerate([*sorted(kills), None]):
            port = Watched(simulation.cluster(), scene.signals)
            if kill is not None:
                simulation.schedule(max(at(kill), simulation.clock.now()), port.kill)
            ports = Ports(simulation.clock, port, InlineBackground(), CollectingReporter(), ledger=books)
            try:
                scene.records += evacuate([Request(notice(spot))], ports, how, owner=f"{who}-{life}")
            except Killed:
                waiting = simulation.cluster()
                waiting.wait(simulation.clock.now() + timedelta(seconds=15))
                waiting.close()
                continue
            return

    calls = [lambda: invoke("spot-a", begins[0], "a"), lambda: invoke("spot-b", begins[1], "b")]
    if twice:
        calls.append(lambda: invoke("spot-a", begins[0], "a2"))
    simulation.side_by_side(*calls)
    simulation.run_until(at(130))
    return scene


@QUIET
@given(wides(events=False, hpas=False, unready=False))
def test_never_short_before_a_last_safe_moment(drawn: list[Wide]) -> None:
    scene = run(drawn)
    assert scene.lost() == []
    assert scene.left() == []
    assert all(n == 1 for n in scene.signals.values())
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) == 0, app


@QUIET
@given(wides(events=False, hpas=False, unready=False), st.sampled_from([{"maxUnavailable": 1}, {"minAvailable": "50%"}, {"maxUnavailable": 0}]))
def test_with_shared_budgets_too(drawn: list[Wide], rule: dict[str, Any]) -> None:
    for app in drawn:
        app.rule = None
    scene = run(drawn, extra=[budget("all", {}, **rule)])
    assert scene.lost() == []
    assert scene.left() == []
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) == 0, app


@QUIET
@given(wides(events=True, hpas=True, unready=True), st.sampled_from(ReleaseMode))
def test_scaled_rolled_out_autoscaled_and_unready_nothing_is_lost_or_left(drawn: list[Wide], mode: ReleaseMode) -> None:
    scene = run(drawn, how=Settings(release=mode))
    assert scene.lost() == []
    assert scene.left() == []
    assert all(n == 1 for n in scene.signals.values())


@QUIET
@given(wides(events=False, hpas=False, unready=True))
def test_unready_pods_make_it_no_worse_than_they_are(drawn: list[Wide]) -> None:
    scene = run(drawn)
    assert scene.lost() == []
    assert scene.left() == []
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) <= app.unready, app


@QUIET
@given(wides(events=True, hpas=False, unready=False))
def test_scaled_down_never_short(drawn: list[Wide]) -> None:
    for app in drawn:
        app.rollout = None
        if app.scale and app.scale[1] > app.replicas:
            app.scale = None
    scene = run(drawn)
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) == 0, app
    assert scene.left() == []


@QUIET
@given(wides(events=False, hpas=False, unready=False), st.floats(0, 100), st.floats(0, 100))
def test_begun_late_what_time_allows_is_not_lost(drawn: list[Wide], first: float, second: float) -> None:
    scene = run(drawn, begins=(first, second))
    latest = max(first, second)
    if latest < 105:
        assert [name for name in scene.lost() if not late(scene, name, latest)] == []
    assert scene.left() == []


def late(scene: Scene, name: str, latest: float) -> bool:
    shutdown = next(a.shutdown for a in scene.apps if name.startswith(f"{a.name}-"))
    return latest + 1.5 + shutdown > 120


@QUIET
@given(
    wides(events=False, hpas=False, unready=False),
    st.sampled_from([Conflict("409"), Passing("500"), Throttled(timedelta(seconds=1)), Unknown("no answer")]),
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from([("patch", "pods"), ("create", "pods/eviction"), ("delete", "pods"), (None, None)]),
    st.floats(0, 2),
)
def test_whatever_is_answered_and_however_late_it_shows(
    drawn: list[Wide], result: Any, every: int, served: bool, what: Any, delay: float
) -> None:
    assume(every > 1 or what[1] == "pods")

    def trouble(simulation: Simulation) -> None:
        simulation.faults.add(Fault(result, verb=what[0], resource=what[1], every=every, is_served=served))
        if delay > 0.1:
            simulation.faults.watches_late(timedelta(seconds=delay))

    scene = run(drawn, prepare=trouble)
    assert scene.lost() == []
    assert scene.left() == []
    for app in drawn:
        if app.is_released and every > 2 and delay < 0.2 and result != Conflict("409"):
            note(str(app))
            assert scene.short(app, app.last_safe - 0.1) <= 1, app


@QUIET
@given(wides(events=False, hpas=False, unready=False), st.booleans())
def test_two_invocations_for_one_node_without_a_ledger(drawn: list[Wide], _: bool) -> None:
    scene = run(drawn, ledger=False, twice=True)
    assert scene.lost() == []
    assert scene.left() == []
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) == 0, app


@QUIET
@given(wides(events=False, hpas=False, unready=False), st.lists(st.floats(0, 60), min_size=1, max_size=3))
def test_killed_at_any_moment(drawn: list[Wide], kills: list[float]) -> None:
    scene = run(drawn, kills=tuple(kills))
    assert scene.lost() == []
    assert scene.left() == []
    for app in drawn:
        if app.is_released:
            assert scene.short(app, app.last_safe - 0.1) == 0, app


@QUIET
@given(wides(events=False, hpas=False, unready=False), st.integers(0, 12))
def test_quotas(drawn: list[Wide], room: int) -> None:
    used = sum(a.replicas for a in drawn)
    scene = run(drawn, extra=[quota("q", {"pods": str(used)}, pods=str(used + room))])
    assert scene.lost() == []
    assert scene.left() == []
