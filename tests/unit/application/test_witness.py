"""What is seen of budgets and workloads: holds in time, excess from our own deletions on, every pod counted once."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from lambdas.application.chronicle import Story
from lambdas.application.sightings import Course
from lambdas.application.witness import Witness
from lambdas.domain.decisions.steps import Cause, Go, Hold, Stay
from lambdas.domain.values.actions import Delete
from lambdas.domain.values.courses import Level
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Owner, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView, Observation
from lambdas.domain.values.releases import Released
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.workloads import Deployment, ReplicaSet
from tests.unit.builders import at, budget, current, pod, terminating

WEB = BudgetRef("default", "web")
OWNER = Owner("ReplicaSet", "web-1", "rs-1")
RELEASED = Released("web-1", "rs-1", "web", "d-1", "h", at(0))


def stories(*pods: Pod) -> dict[PodRef, Story]:
    return {p.ref: Story(p) for p in pods}


def with_budget(*budgets: Budget, namespaces: Mapping[str, NamespaceView] | None = None) -> Observation:
    return Observation(budgets=current(*budgets), namespaces=namespaces or {})


def view(*pods: Pod, replicas: int = 2) -> NamespaceView:
    above = ReplicaSet("default", "web-1", "rs-1", Selector.from_labels({}), Owner("Deployment", "web", "d-1"))
    return NamespaceView(
        pods=Listing(pods, Freshness.CURRENT),
        deployments=Listing((Deployment("default", "web", "d-1", replicas),), Freshness.CURRENT),
        replica_sets=Listing((above,), Freshness.CURRENT),
    )


def owned(name: str, **fields: Any) -> Pod:
    return replace(pod(name, **fields), owner=OWNER)


def test_a_budget_held_for_as_long_as_at_least_one_pod_stayed_for_it() -> None:
    seen = stories(pod("web-1"), pod("web-2"))
    one, two = seen.values()
    witness = Witness(seen)
    one.last_stay = two.last_stay = Stay(Hold.BUDGET, None, (WEB,))
    witness.saw(at(1), with_budget(budget()))
    one.signalled_at = at(5)
    witness.saw(at(5), with_budget(budget()))
    two.last_stay = Stay(Hold.ANSWER, None)
    witness.saw(at(11), with_budget(budget()))
    two.last_stay = Stay(Hold.BUDGET, None, (WEB,))
    witness.saw(at(20), with_budget(budget()))
    [story] = witness.budgets(at(23))
    assert [(span.since, span.until) for span in story.held] == [(at(1), at(11)), (at(20), at(23))]
    assert story.held_for == timedelta(seconds=13)


def test_a_budget_is_exceeded_by_what_it_lacks_after_our_deletion_and_not_before() -> None:
    seen = stories(pod("web-1"))
    [story] = seen.values()
    witness = Witness(seen)
    witness.saw(at(1), with_budget(budget(desired=39, healthy=36)))
    assert witness.budgets(at(1))[0].exceeded_by == 0
    witness.saw(at(2), with_budget(budget(desired=39, healthy=39)))
    story.ask = Delete(story.pod.ref, timedelta(seconds=30), (WEB,))
    story.going = Go(story.ask, {}, Cause.PACED, "30 pods left: 4 at a time")
    for second, healthy in ((3, 38), (4, 37), (5, 38)):
        witness.saw(at(second), with_budget(budget(desired=39, healthy=healthy)))
    [told] = witness.budgets(at(6))
    assert (told.exceeded_by, told.exceeded_at, told.arithmetic) == (2, at(4), "30 pods left: 4 at a time")
    assert [level.ready for level in told.curve] == [36, 39, 38, 37, 38]


def test_a_budget_of_other_pods_is_no_story_of_this_node() -> None:
    witness = Witness(stories(pod("web-1")))
    witness.saw(at(1), with_budget(budget("db", labels={"app": "db"})))
    assert witness.budgets(at(2)) == ()


def test_ready_are_owned_and_released_pods_alike_but_none_on_its_way_out() -> None:
    released = replace(owned("web-1"), owner=None, released=RELEASED)
    witness = Witness(stories(owned("web-1")))
    witness.saw(at(0), with_budget(namespaces={"default": view(owned("web-1"), owned("web-2"))}))
    witness.saw(at(1), with_budget(namespaces={"default": view(released, owned("web-2"), owned("n", ready=False))}))
    witness.saw(at(2), with_budget(namespaces={"default": view(released, owned("web-2"), owned("n"))}))
    going = replace(released, deletion=terminating(3))
    witness.saw(at(3), with_budget(namespaces={"default": view(going, owned("web-2"))}))
    [story] = witness.workloads(at(4))
    assert (story.kind, str(story), story.counted_by) == ("Deployment", "default/web", "")
    assert story.curve == (Level(at(0), 2, 2), Level(at(2), 3, 2), Level(at(3), 1, 2))
    assert (story.fewest_ready, story.fewest_ready_at) == (1, at(3))


def test_what_the_host_took_is_missing_at_the_end_though_the_api_still_shows_it() -> None:
    pods = [owned("web-1"), owned("web-2")]
    seen = stories(pods[0])
    witness = Witness(seen)
    witness.saw(at(0), with_budget(namespaces={"default": view(*pods)}))
    seen[pods[0].ref].is_lost = True
    [story] = witness.workloads(at(120))
    assert (story.fewest_ready, story.fewest_ready_at) == (1, at(120))


def test_a_statefulset_is_counted_by_its_budget_and_says_so() -> None:
    db = replace(pod("db-0", owner="StatefulSet"), owner=Owner("StatefulSet", "db", "s"))
    witness = Witness(stories(db))
    witness.saw(at(0), with_budget(budget(healthy=3, expected=3, desired=2)))
    witness.saw(at(1), with_budget(budget(healthy=2, expected=3, desired=2)))
    [story] = witness.workloads(at(2))
    assert (story.kind, story.name, story.replicas, story.fewest_ready) == ("StatefulSet", "db", 3, 2)
    assert story.counted_by == "default/web"


def test_a_course_keeps_its_lowest_point_however_many_came_before() -> None:
    course = Course()
    for second in range(3 * Course.MOST_POINTS):
        course.add(at(second), 10 + second % 2, 11)
    course.add(at(10_000), 3, 11)
    assert len(course.points) == Course.MOST_POINTS
    assert course.lowest == Level(at(10_000), 3, 11)
