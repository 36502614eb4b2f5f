"""What holds for every drain, whatever the pods, the budgets and the API server's answers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evac.simulator import Simulation
from lambdas.domain.decisions.deadline import Deadline
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.settings import Settings
from tests.scenarios.stage import Outcome, drain
from tests.scenes import Json, at, bare, budget, deployment, job, node, stateful_set, times

APPS = ("a", "b", "c")


@dataclass(frozen=True)
class Trouble:
    """A stretch during which the API server fails in one way."""

    kind: str
    since: float
    lasts: float

    @property
    def ends(self) -> float:
        return self.since + self.lasts

    def make(self, simulation: Simulation) -> None:
        since, until = at(self.since), at(self.ends)
        match self.kind:
            case "away":
                simulation.faults.api_away(since, until)
            case "slow and away":
                simulation.faults.api_away(since, until, takes=timedelta(seconds=2))
            case "watches":
                simulation.faults.watches_broken(since, until)
            case "late watches":
                simulation.faults.watches_late(timedelta(seconds=1), since, until)
            case verb:
                simulation.faults.forbidden(
                    verb, "pods/eviction" if verb == "create" else "pods", since=since, until=until
                )


troubles = st.builds(
    Trouble,
    st.sampled_from(["away", "slow and away", "watches", "late watches", "create", "delete"]),
    st.floats(0, 80),
    st.floats(0, 25),
)


@st.composite
def workloads(draw: st.DrawFn) -> list[Json]:
    """Up to three applications on the doomed node, each perhaps behind one or two budgets."""
    objects: list[Json] = []
    for app in draw(st.sets(st.sampled_from(APPS), min_size=1)):
        grace = draw(st.sampled_from([1, 10, 30, 60, 90, 300]))
        of: dict[str, Any] = {
            "grace": grace,
            "annotations": times(draw(st.sampled_from([1, 20, 90])), draw(st.sampled_from([1, 8]))),
        }
        count = draw(st.integers(1, 4))
        match draw(st.sampled_from(["deployment", "stateful set", "job", "bare"])):
            case "deployment":
                objects += deployment(app, {"spot-a": count, "od-1": draw(st.integers(0, 2))}, **of)
            case "stateful set":
                objects += stateful_set(app, ["spot-a"] * count, ready=draw(st.booleans()), **of)
            case "job":
                objects += job(app, "spot-a", **of)
            case _:
                objects += [bare(f"{app}-{i}", "spot-a", {"app": app}, **of) for i in range(count)]
        for name in draw(st.sampled_from([(), (app,), (app, f"{app}2")])):
            objects.append(budget(name, {"app": app}, maxUnavailable=draw(st.sampled_from([0, 1, "50%"]))))
    return objects


def protected() -> list[Json]:
    """Pods that filters protect."""
    daemon = bare("agent", "spot-a", {"app": "a"})
    daemon["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent", "uid": "ds", "controller": True}]
    static = bare("static", "spot-a", {"app": "b"})
    static["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x"
    return [daemon, static]


def drained(objects: list[Json], trouble: list[Trouble]) -> Outcome:
    def prepare(simulation: Simulation) -> None:
        for one in trouble:
            one.make(simulation)

    return drain(node("spot-a"), node("od-1"), *objects, *protected(), prepare=prepare)


def due(raw: Json) -> float:
    """When the pod's SIGTERM is due."""
    moment = Deadline(at(120), Settings()).last_safe_moment(read_pod(raw))
    return max(0.0, (moment - at(0)).total_seconds())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.lists(troubles, max_size=2))
def test_every_pod_is_signalled_by_its_last_safe_moment_if_the_api_was_there_by_then(
    objects: list[Json], trouble: list[Trouble]
) -> None:
    outcome = drained(objects, trouble)
    signalled = outcome.signalled()
    quiet = max((t.ends for t in trouble), default=0.0)
    for raw in objects:
        if raw["kind"] == "Pod" and raw["spec"]["nodeName"] == "spot-a":
            name = raw["metadata"]["name"]
            limit = max(due(raw), quiet + 3.5) + 2.5
            assert name in signalled, f"{name} was never signalled"
            assert signalled[name] <= limit, f"{name} was due at {due(raw)}, quiet from {quiet}"


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.lists(troubles, max_size=2))
def test_protected_pods_and_pods_of_other_nodes_are_never_touched(objects: list[Json], trouble: list[Trouble]) -> None:
    outcome = drained(objects, trouble)
    for story in outcome.simulation.journal:
        if story.pod.name in ("agent", "static") or story.node_name == "od-1":
            assert story.signalled_at is None


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.floats(0, 90), st.floats(0, 5), st.sampled_from([0, 1, "100%"]))
def test_nothing_is_sent_to_a_pod_whose_uid_has_changed(when: float, delay: float, most: int | str) -> None:
    """Another hand deletes the pod; a namesake, elsewhere, is there before the drain has seen it."""

    def replaced(simulation: Simulation) -> None:
        simulation.delete("Pod", "default", "p", grace=timedelta(seconds=1))
        simulation.schedule(simulation.clock.now() + timedelta(seconds=1.5), lambda: simulation.apply(namesake))

    def prepare(simulation: Simulation) -> None:
        simulation.faults.watches_late(timedelta(seconds=delay))
        simulation.schedule(at(when), lambda: replaced(simulation))

    namesake = bare("p", "od-1", {"app": "a"})
    objects = [bare("p", "spot-a", {"app": "a"}), budget("a", {"app": "a"}, maxUnavailable=most)]
    outcome = drain(node("spot-a"), node("od-1"), *objects, prepare=prepare)
    former, *later = outcome.simulation.journal.named("default", "p")
    assert former.signalled_at
    assert [story.node_name for story in later] == ["od-1"]
    assert later[0].signalled_at is None


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), st.lists(troubles, max_size=2))
def test_the_drain_ends_by_reclaim_and_its_record_tells_the_truth(objects: list[Json], trouble: list[Trouble]) -> None:
    outcome = drained(objects, trouble)
    assert outcome.ended <= 120
    truth = {s.pod.uid: s for s in outcome.simulation.journal.on("spot-a")}
    for fate in outcome.record.pods:
        story = truth[fate.pod.uid]
        assert (fate.departure.name == "LOST") == (story.killed_at is not None), fate


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workloads())
def test_without_trouble_a_pod_whose_shutdown_fits_is_never_lost(objects: list[Json]) -> None:
    assert set(drained(objects, []).lost) <= {"agent", "static"}
