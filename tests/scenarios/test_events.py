"""What a drain leaves in the cluster's Events: on the node, and on pods that died with it."""

from lambdas.domain.values.settings import BudgetMode, ReleaseMode, Settings
from tests.scenarios.stage import Outcome, drain
from tests.scenes import Json, budget, deployment, node

NEVER = Settings(budgets=BudgetMode.NEVER, release=ReleaseMode.OFF)


def lost_of(count: int) -> Outcome:
    """A drain whose budget lets no pod go, and may not be overridden."""
    web = deployment("web", {"spot-a": count})
    return drain(node("spot-a", pods=200), *web, budget("web", {"app": "web"}, maxUnavailable=0), settings=NEVER)


def pod_events(outcome: Outcome) -> list[Json]:
    events = outcome.simulation.list("Event")
    return [event for event in events if event["involvedObject"]["kind"] == "Pod" and event["reason"] == "PodLost"]


def test_each_lost_pod_has_an_event_that_says_why() -> None:
    outcome = lost_of(3)
    found = pod_events(outcome)
    assert sorted(event["involvedObject"]["name"] for event in found) == sorted(outcome.lost)
    assert {event["metadata"]["namespace"] for event in found} == {"default"}
    assert all("lost with its host spot-a: held by its budget" in event["message"] for event in found)


def test_of_many_lost_pods_fifty_have_one_and_the_node_s_counts_all() -> None:
    outcome = lost_of(70)
    assert len(outcome.lost) == 70
    assert len(pod_events(outcome)) == 50
    [event] = [event for event in outcome.simulation.list("Event") if event["reason"] == "PodsLost"]
    assert "70 of 70 pods" in event["message"]


def test_a_drain_that_loses_none_writes_none_on_pods() -> None:
    outcome = drain(node("spot-a"), node("other"), *deployment("web", {"spot-a": 3}))
    assert not outcome.lost
    assert not pod_events(outcome)
