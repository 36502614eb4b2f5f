"""What a PodDisruptionBudget counts, and when it opens.

Where a rule is the API's: pkg/controller/disruption.
"""

from lambdas.domain.values.answers import Blocked, Done
from tests.contract.steps import (
    NS,
    all_ready,
    condition,
    counted,
    evict,
    owned,
    ref_of,
    running,
)
from tests.contract.workloads import daemons, on_spot
from tests.contract.world import World
from tests.scenes import budget, times


def test_a_budget_counts_on_the_scale_of_the_pods_controllers(world: World) -> None:
    on_spot(world, owned("Deployment", "web", 3), 3)
    counted(world, budget("web", {"app": "web"}, maxUnavailable=1), expectedPods=3, desiredHealthy=2, currentHealthy=3)


def test_percentages_round_up(world: World) -> None:
    on_spot(world, owned("ReplicaSet", "web", 3), 3)
    counted(world, budget("half", {"app": "web"}, minAvailable="50%"), desiredHealthy=2, disruptionsAllowed=1)
    counted(world, budget("third", {"app": "web"}, maxUnavailable="34%"), desiredHealthy=1, disruptionsAllowed=2)


def test_a_budget_of_pods_without_a_controller_can_only_count_them_by_number(world: World) -> None:
    running(world, "one", labels={"app": "web"})
    running(world, "two", labels={"app": "web"})
    counted(world, budget("number", {"app": "web"}, minAvailable=1), expectedPods=2, disruptionsAllowed=1)
    counted(world, budget("limit", {"app": "web"}, maxUnavailable=1), expectedPods=0, disruptionsAllowed=0)


def test_a_budget_selects_by_expressions(world: World) -> None:
    for name, tier in (("a", "web"), ("b", "api"), ("c", "batch")):
        running(world, name, labels={"tier": tier})
    expressions = [
        {"key": "tier", "operator": "In", "values": ["web", "api", "batch"]},
        {"key": "tier", "operator": "NotIn", "values": ["batch"]},
        {"key": "legacy", "operator": "DoesNotExist"},
    ]
    made = budget("web", {}, minAvailable=1)
    made["spec"]["selector"] = {"matchExpressions": expressions}
    counted(world, made, expectedPods=2, currentHealthy=2, disruptionsAllowed=1)


def test_a_budget_over_everything_and_one_over_nothing(world: World) -> None:
    running(world)
    everything, nothing = budget("all", {}, minAvailable=0), budget("none", {"app": "none"}, minAvailable=0)
    everything["spec"]["selector"] = {}
    counted(world, everything, expectedPods=1, disruptionsAllowed=1)
    counted(world, nothing, expectedPods=0, disruptionsAllowed=0)


def test_a_budget_over_a_daemon_sets_pods_cannot_be_counted_and_stays_shut(world: World) -> None:
    [pod] = daemons(world)
    world.apply(budget("agent", {"app": "agent"}, maxUnavailable=1))
    world.until(lambda: condition(world.get("PodDisruptionBudget", NS, "agent"), "DisruptionAllowed") == "False")
    assert isinstance(evict(world, world.cluster(), ref_of(pod)), Blocked)


def test_a_budget_opens_again_when_the_replacement_is_ready(world: World) -> None:
    pods = on_spot(world, owned("ReplicaSet", "web", 2, annotations=times(1, 0.5)), 2)
    counted(world, budget("web", {"app": "web"}, maxUnavailable=1), disruptionsAllowed=1)
    assert evict(world, world.cluster(), ref_of(pods[0])) == Done()
    world.until(lambda: allowed(world) == 0)
    all_ready(world, "web", 2)
    world.until(lambda: allowed(world) == 1)


def allowed(world: World) -> int:
    found = world.get("PodDisruptionBudget", NS, "web") or {}
    return int(found["status"]["disruptionsAllowed"])
