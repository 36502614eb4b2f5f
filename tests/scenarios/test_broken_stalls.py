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
    reference,
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
