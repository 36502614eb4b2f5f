"""Drains that wait for what never comes, and then leave all at once. Seconds from the notice."""

from datetime import timedelta
from typing import Any

import pytest

from evac.simulator import Simulation
from evac.simulator.faults import Fault
from lambdas.contract import ANNOTATION_MARK, LABEL_DRAINING
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.answers import Passing, Throttled, Unauthenticated
from lambdas.domain.values.marks import Former, encode_mark
from lambdas.domain.values.releases import RELEASED, WRITTEN_ON_RELEASE, Released, encode_release, released_hash
from lambdas.domain.values.settings import ReleaseMode, Settings
from tests.scenarios.stage import drain
from tests.scenes import (
    Json,
    at,
    autoscaler,
    budget,
    deployment,
    instance_id,
    node,
    pod,
    quota,
    template,
    times,
    workload,
)

SPOT = node("spot-a")
ROOM = node("od-1")
ONE = budget("web", {"app": "web"}, maxUnavailable=1)
SLACK = budget("web", {"app": "web"}, maxUnavailable="25%")


def marked(name: str, reason: str = "spot-interruption", reclaim: float | None = 120, since: float = 0) -> Json:
    """A node that carries our mark, and that nobody drains."""
    made = node(name, unschedulable=True)
    mark = Mark(instance_id(name), reason, None if reclaim is None else at(reclaim), at(since), at(since + 86400))
    made["metadata"]["labels"][LABEL_DRAINING] = "true"
    made["metadata"]["annotations"][ANNOTATION_MARK] = encode_mark(mark, Former())
    made["spec"]["taints"] = [{"key": "spot-evac.dev/interrupted", "value": reason, "effect": "NoSchedule"}]
    return made


@pytest.mark.parametrize("reclaim", [60, 110, 119, 120])
def test_a_marked_node_that_nobody_drains_holds_up_no_other(reclaim: float) -> None:
    web = deployment("web", {"spot-a": 10, "dead": 10, "od-1": 20}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, marked("dead", reclaim=reclaim), *web, ONE)
    assert outcome.graceful == 10
    assert outcome.most_short("web", until=min(reclaim, 119)) == 0
    assert outcome.ended < 60


def test_a_few_pods_are_held_up_by_no_dead_node() -> None:
    web = deployment("web", {"spot-a": 4, "dead": 4, "od-1": 2}, surge=1, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, marked("dead"), *web, budget("web", {"app": "web"}, maxUnavailable=2))
    assert outcome.most_short("web", until=119) == 0


# --- a person's drain that was broken off


def with_released_on(name: str, spot: int, left: int, rest: int, **of: Any) -> list[Json]:
    """A Deployment of which `left` pods were released on node `name`, and replaced; nobody went on with them."""
    of["annotations"] = times(10, 2)
    made = deployment("web", {"spot-a": spot, name: left, "od-1": rest}, **of)
    owner, sets, *pods = made
    mark = Released(
        sets["metadata"]["name"], sets["metadata"]["uid"], "web", owner["metadata"]["uid"], "5d4f8c7b9", at(-600)
    )
    fresh = []
    for i, one in enumerate(p for p in pods if p["spec"]["nodeName"] == name):
        one["metadata"].pop("ownerReferences")
        one["metadata"]["labels"] |= {
            "pod-template-hash": released_hash("5d4f8c7b9"),
            "spot-evac.dev/released": RELEASED,
        }
        one["metadata"]["annotations"] |= {**WRITTEN_ON_RELEASE, "spot-evac.dev/released-from": encode_release(mark)}
        fresh.append(pod(f"web-fresh-{i:02}", "od-1", sets["spec"]["template"], owner=sets))
    return [*made, *fresh]


@pytest.mark.parametrize(
    ("how", "scaler"),
    [(Settings(), True), (Settings(release=ReleaseMode.WITHIN), False), (Settings(), False)],
    ids=["with an autoscaler", "within", "enough"],
)
def test_what_a_broken_off_drain_left_released_on_another_node_holds_up_nobody(how: Settings, scaler: bool) -> None:
    web = with_released_on("old", 10, 10, 20)
    more = (
        [autoscaler("web", least=1, most=100, behavior={"scaleDown": {"stabilizationWindowSeconds": 600}})]
        if scaler
        else []
    )
    objects = [SPOT, ROOM, marked("old", "maintenance", None, -600), *web, ONE, *more]
    outcome = drain(*objects, settings=how)
    assert outcome.graceful == 10
    assert outcome.most_short("web", until=119) == 0
    assert outcome.ended < 60


# --- a rollout that is stuck


def stuck_rollout(on_spot: int = 8) -> list[Json]:
    """10 replicas; the new version never gets Ready, the old one keeps the 8 that maxUnavailable 25 % demands."""
    owner, sets, *pods = deployment(
        "web", {"spot-a": on_spot, "od-1": 8 - on_spot} if on_spot < 8 else {"spot-a": 8}, annotations=times(10, 2)
    )
    owner["spec"]["replicas"] = 10
    owner["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2"
    broken = template({"app": "web", "pod-template-hash": "bad"}, annotations=times(10, 2, ready=False))
    owner["spec"]["template"] = template({"app": "web"}, annotations=times(10, 2, ready=False))
    new = workload(
        "ReplicaSet",
        "web-bad",
        {"replicas": 5, "selector": {"matchLabels": broken["metadata"]["labels"]}, "template": broken},
        owner=owner,
    )
    new["metadata"]["labels"] = broken["metadata"]["labels"]
    new["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    sick = [pod(f"web-bad-{i}", "od-1", broken, owner=new, ready=False) for i in range(5)]
    return [owner, sets, new, *pods, *sick]


@pytest.mark.parametrize("release", [ReleaseMode.ENOUGH, ReleaseMode.OFF])
def test_a_stuck_rollout_s_old_pods_leave_by_their_budget_and_not_all_at_the_end(release: ReleaseMode) -> None:
    rule = budget("web", {"app": "web"}, minAvailable=7)
    outcome = drain(SPOT, ROOM, *stuck_rollout(), rule, settings=Settings(release=release))
    assert outcome.graceful == 8
    assert outcome.exceeded("web") <= 1


# --- release patches that are never answered well


@pytest.mark.parametrize(
    "result",
    [
        Passing('500: failed calling webhook "pods.example": context deadline exceeded'),
        Throttled(timedelta(seconds=1)),
        Unauthenticated("401"),
    ],
    ids=["500", "429", "401"],
)
def test_releases_that_fail_and_fail_are_given_up_and_the_pods_leave_by_their_budget(result: Any) -> None:
    def failing(simulation: Simulation) -> None:
        simulation.faults.add(Fault(result, verb="patch", resource="pods"))

    web = deployment("web", {"spot-a": 8, "od-1": 8}, annotations=times(10, 2))
    outcome = drain(SPOT, ROOM, *web, ONE, prepare=failing)
    assert outcome.graceful == 8
    assert outcome.exceeded("web") == 0
    assert outcome.most_short("web", until=119) <= 2


def test_one_pod_whose_release_fails_and_fails_holds_up_no_other() -> None:
    def failing(simulation: Simulation) -> None:
        simulation.faults.add(
            Fault(Passing("500: failed calling webhook"), verb="patch", resource="pods", until=at(80))
        )

    web = deployment("web", {"spot-a": 8, "od-1": 8}, annotations=times(10, 2))
    assert drain(SPOT, ROOM, *web, ONE, prepare=failing).most_short("web", until=119) <= 2


# --- quotas with room for a surge


@pytest.mark.parametrize("with_budget", [True, False])
def test_a_quota_with_room_for_a_surge_is_enough_for_waves_of_the_surge(with_budget: bool) -> None:
    web = deployment("web", {"spot-a": 30, "od-1": 10}, annotations=times(10, 2))
    room = quota("pods", {"pods": "40"}, pods="50")
    more = [SLACK] if with_budget else []
    outcome = drain(SPOT, ROOM, *web, room, *more)
    assert outcome.graceful == 30
    assert outcome.most_short("web", until=119) == 0


# --- a namespace's minReadySeconds, autoscaled


def test_with_an_autoscaler_and_long_min_ready_seconds_pods_do_not_all_leave_at_the_end() -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 2}, surge=1, annotations=times(10, 2))
    web[0]["spec"]["minReadySeconds"] = 60
    scaler = autoscaler("web", least=1, most=100, behavior={"scaleDown": {"stabilizationWindowSeconds": 600}})
    outcome = drain(SPOT, ROOM, *web, ONE, scaler)
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=119) <= 3


def test_with_an_autoscaler_and_slow_starts_those_that_cannot_be_replaced_in_time_are_paced() -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 2}, surge=1, annotations=times(25, 2))
    scaler = autoscaler("web", least=1, most=100, behavior={"scaleDown": {"stabilizationWindowSeconds": 600}})
    outcome = drain(SPOT, ROOM, *web, ONE, scaler)
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=119) <= 3


def test_the_same_without_release_is_paced() -> None:
    web = deployment("web", {"spot-a": 8, "od-1": 2}, surge=1, annotations=times(25, 2))
    outcome = drain(SPOT, ROOM, *web, ONE, settings=Settings(release=ReleaseMode.OFF))
    assert outcome.graceful == 8
    assert outcome.most_short("web", until=119) <= 3
