"""The long cases, on the real control plane at their full size: laid out and drained side by side, judged one by one.

What happened is told by a watch from beside; of the drain's own word only the reasons are asked. Seconds count from
each scene's notice. Where the machine is shared, the moments have room; counts have none.
"""

from collections import Counter
from dataclasses import dataclass

import pytest

from controlplane import ControlPlane
from evac.simulator import Key, Simulation
from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.drains import Departure, Ending
from tests.cluster.drains import Drained
from tests.cluster.long_scenes import SCENES
from tests.cluster.metrics_api import metrics_api
from tests.cluster.side_by_side import Scene, drain_all, lay_out, stage
from tests.cluster.watched import Story, Watched
from tests.scenarios.stage import Outcome, drain
from tests.scenes import at

pytestmark = pytest.mark.cluster


@dataclass(frozen=True, slots=True)
class Course:
    """How it all went: what the product says by node, what the watch says by scene, and what is left at the end."""

    drains: dict[str, Drained]
    stories: dict[str, Story]
    released: list[str]
    replicas: int
    autoscaler_looked: list[float]

    def of(self, name: str) -> tuple[Drained, Story]:
        """One scene's only drain, and its story."""
        return self.drains[SCENES[name].doomed[0]], self.stories[name]


@pytest.fixture(scope="module")
def course(plane: ControlPlane) -> Course:
    """All of it, once: some two minutes."""
    scenes = list(SCENES.values())
    with stage(plane) as api, metrics_api(plane, api, load=40 * 50) as asked:
        lay_out(api, scenes)
        with Watched(plane, api) as watched:
            drains = drain_all(plane, api, scenes)
            noticed = {scene.name: drains[scene.doomed[0]].noticed_at for scene in scenes}
            stories = {s.name: watched.story(s.name, s.doomed, noticed[s.name].timestamp()) for s in scenes}
        looked = [(moment - noticed["d25"]).total_seconds() for moment in asked]
        left = [p["metadata"]["name"] for p in api.items("Pod", query=f"labelSelector={LABEL_RELEASED}")]
        replicas = api.get("/apis/apps/v1/namespaces/d25/deployments/web")[1]["spec"]["replicas"]
    return Course(drains, stories, left, replicas, looked)


def is_whole(result: Drained, story: Story, pods: int = 30, replicas: int = 40) -> None:
    """What people choose the product for."""
    assert result.record.ending is Ending.DRAINED
    assert (story.graceful, story.lost) == (pods, 0)
    assert story.fewest["app", "web"] >= replicas
    assert story.exceeded["web"] <= 0


def ended(result: Drained) -> float:
    """Seconds from the notice to the record."""
    assert result.record.ended_at
    return (result.record.ended_at - result.noticed_at).total_seconds()


def waves(result: Drained) -> list[float]:
    """When pods were released, in order."""
    moments = (fate.released_at for fate in result.record.pods if fate.released_at)
    return sorted((moment - result.noticed_at).total_seconds() for moment in moments)


def reasons(result: Drained) -> set[str]:
    """Why pods were not released."""
    return {fate.not_released for fate in result.record.pods if fate.not_released}


def test_d1_thirty_pods_leave_in_waves_of_the_surge_and_nobody_is_missing(course: Course) -> None:
    result, story = course.of("d1")
    is_whole(result, story)
    assert len(waves(result)) == 30
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}
    assert ended(result) < 40


def test_d1b_without_a_surge_the_budget_is_exceeded_by_the_least(course: Course) -> None:
    result, story = course.of("d1b")
    assert (story.graceful, story.lost) == (30, 0)
    assert reasons(result) == {"its Deployment's maxSurge is 0"}
    assert story.fewest["app", "web"] >= 35


def test_d1d_two_nodes_in_two_invocations_count_their_waves_together(course: Course) -> None:
    results, story = [course.drains[name] for name in SCENES["d1d"].doomed], course.stories["d1d"]
    for result in results:
        is_whole(result, story)
    first = [when for result in results for when in waves(result) if when < 5]
    assert 10 <= len(first) <= 20, "an overshoot of one wave at most"


def test_d2_a_wave_that_finds_no_room_lets_all_ask_for_it(course: Course) -> None:
    result, story = course.of("d2")
    is_whole(result, story)
    assert max(waves(result)) < 6
    assert ended(result) < 60


def test_d3_a_few_pods_are_released_too(course: Course) -> None:
    result, story = course.of("d3")
    is_whole(result, story, pods=5)
    assert ended(result) < 12


def test_d4_a_stateful_set_leaves_one_by_one_within_its_budget(course: Course) -> None:
    result, story = course.of("d4")
    assert (story.graceful, story.lost) == (3, 0)
    assert story.exceeded["db"] <= 0
    assert {fate.departure for fate in result.record.pods} == {Departure.EVICTED}


def test_d5_the_third_of_a_slow_stateful_set_leaves_at_its_last_safe_moment(course: Course) -> None:
    result, story = course.of("d5")
    assert (story.graceful, story.lost) == (3, 0)
    first, second, third = story.signals
    assert first < 2
    assert 64 < second < 72
    assert third == pytest.approx(85, abs=1)
    assert story.exceeded["db"] == 1
    assert Counter(fate.departure for fate in result.record.pods) == {
        Departure.EVICTED: 2,
        Departure.DELETED_AGAINST_BUDGET: 1,
    }


def test_d6_a_single_replica_is_replaced_before_it_goes(course: Course) -> None:
    result, story = course.of("d6")
    is_whole(result, story, pods=1, replicas=1)
    assert ended(result) < 18


def test_d13_the_longest_grace_goes_first_and_the_shared_budget_is_never_exceeded(course: Course) -> None:
    result, story = course.of("d13")
    assert (story.graceful, story.lost) == (4, 0)
    assert story.exceeded["all"] <= 0
    order = [name.split("-")[0] for name, _ in sorted(result.signalled().items(), key=lambda item: item[1])]
    assert order == ["g90", "g60", "g30", "g10"]
    late = [fate for fate in result.record.pods if not fate.signalled_at or fate.signalled_at > fate.last_safe_at]  # type: ignore[operator]
    assert late == []


def test_d15_a_critical_pod_waits_for_the_others_and_not_for_a_blocked_one(course: Course) -> None:
    result, story = course.of("d15")
    assert (story.graceful, story.lost) == (11, 0)
    signalled = result.signalled()
    others = [signalled[f"p{number}"] for number in range(9)]
    assert max(others) < 3
    assert 2 < signalled["coredns"] < 12
    assert signalled["blocked"] == pytest.approx(85, abs=1)


def test_d19_under_a_shared_budget_each_deployment_keeps_its_own_replicas(course: Course) -> None:
    result, story = course.of("d19")
    assert (story.graceful, story.lost) == (6, 0)
    assert story.fewest["app", "a"] >= 6
    assert story.fewest["app", "b"] >= 6
    assert story.exceeded["both"] <= 0
    assert len([when for when in waves(result) if when < 5]) == 2


def test_d22b_scaled_down_by_two_two_more_may_go_at_once(course: Course) -> None:
    result, story = course.of("d22b")
    assert story.lost == 0
    assert story.fewest["app", "web"] >= 38
    assert len([when for when in story.signals if 5 <= when < 8]) == 2
    assert result.record.ending is Ending.DRAINED


def test_d25_with_an_autoscaler_the_surplus_is_the_surge_and_the_replicas_are_what_they_were(course: Course) -> None:
    result, story = course.of("d25")
    is_whole(result, story)
    assert len([when for when in waves(result) if when < 5]) == 10, "with all, too"
    assert len([when for when in course.autoscaler_looked if 0 < when < ended(result)]) >= 2
    assert len([when for when in course.autoscaler_looked if when > ended(result)]) >= 2
    assert course.replicas == 40


def test_d26_a_long_grace_is_counted_as_a_minute(course: Course) -> None:
    result, story = course.of("d26")
    is_whole(result, story)
    assert max(story.signals) < 55


def test_no_pod_is_left_released(course: Course) -> None:
    assert course.released == []


@pytest.mark.parametrize("name", ["d1", "d2", "d3", "d4", "d5", "d6"])
def test_the_simulator_and_the_control_plane_agree(course: Course, name: str) -> None:
    """The same manifests on both. Compared: pods that were graceful and lost, exactly; the most replicas that were
    missing and the most by which the budget was exceeded, to within one; when the drain ended, to within 30 % and 2 s
    (the control plane's controllers send 20 requests a second, the simulator's as many as they like)."""
    result, story = course.of(name)
    simulated = _on_the_simulator(SCENES[name])
    [workload] = [m for m in SCENES[name].manifests if m["kind"] in ("Deployment", "StatefulSet")]
    kind, its_name = workload["kind"], workload["metadata"]["name"]
    short = simulated.simulation.history.most_short(Key(kind, "default", its_name), at(0), at(120))
    assert (story.graceful, story.lost) == (simulated.graceful, len(simulated.lost))
    assert story.short("app", its_name, workload["spec"]["replicas"]) == pytest.approx(short, abs=1)
    assert story.exceeded[its_name] == pytest.approx(simulated.exceeded(its_name), abs=1)
    assert ended(result) == pytest.approx(simulated.ended, abs=0.3 * simulated.ended + 2)


def _on_the_simulator(scene: Scene) -> Outcome:
    def prepare(simulation: Simulation) -> None:
        simulation.schedule(at(scene.room_at), lambda: simulation.apply(scene.room))

    return drain(*scene.nodes(), *scene.manifests, prepare=prepare, nodes=scene.doomed, settings=scene.settings)
