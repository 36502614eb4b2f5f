"""The handler end to end: an event on the bus, the template's rule and queue (moto), and a real API server behind."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from controlplane import Api, ControlPlane
from lambdas import contract
from lambdas.adapters.clock import SystemClock
from tests.cluster.drains import PlaneComposition, budget_is, is_ready, pods, room, settle, without_pods
from tests.cluster.rig import grant
from tests.infra.synth import CLUSTER
from tests.integration.conftest import pretend
from tests.integration.invocations import invoke
from tests.integration.stage import Stage, a_node, a_notice_for, an_instance, batch_of, deploy
from tests.scenes import budget, deployment, times

pytestmark = pytest.mark.cluster


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The stack's queues, rule and table in a pretended account."""
    for _ in pretend(monkeypatch):
        yield Stage(deploy())


def a_fresh_notice(instance_id: str, noticed_at: datetime) -> dict[str, object]:
    return a_notice_for(instance_id) | {"time": noticed_at.strftime("%Y-%m-%dT%H:%M:%SZ")}


def test_a_notice_on_the_bus_drains_a_real_node(
    plane: ControlPlane, api: Api, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    grant(api)
    instance_id = an_instance()
    api.apply(a_node("spot-a", instance_id))
    settle(api, without_pods(deployment("web", {"spot-a": 5}, annotations=times(1, 1))), ready=5)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    room(api)
    stage.put(a_fresh_notice(instance_id, SystemClock().now()))
    result = invoke(batch_of(stage.receive()), PlaneComposition(stage.deployment, plane), capsys)

    assert result.failures == []
    [record] = result.drains()
    assert (record["node"], record["ending"], len(record["pods"])) == ("spot-a", "drained", 5)
    assert {pod["departure"] for pod in record["pods"]} == {"evicted"}
    assert result.total(contract.METRIC_PODS_GRACEFUL) == 5
    assert result.total(contract.METRIC_CLUSTER_FORBIDDEN) is None
    assert all(p["spec"]["nodeName"] == "od-1" for p in pods(api))
    api.until(lambda: len([p for p in pods(api) if is_ready(p)]) == 5, timedelta(seconds=30))


def test_two_nodes_and_a_stranger_of_one_batch_each_find_their_fate(
    plane: ControlPlane, api: Api, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    grant(api)
    ours, strangers = [an_instance(), an_instance()], [an_instance("another"), an_instance(None)]
    for name, instance_id in zip(("spot-a", "spot-b"), ours, strict=True):
        api.apply(a_node(name, instance_id))
    settle(api, without_pods(deployment("web", {"spot-a": 4}, annotations=times(1, 1))), ready=4)
    room(api)
    for instance_id in (*ours, *strangers):
        stage.put(a_fresh_notice(instance_id, SystemClock().now()))
    result = invoke(batch_of(stage.receive()), PlaneComposition(stage.deployment, plane), capsys)

    assert result.failures == []
    assert sorted(record["ending"] for record in result.drains()) == ["drained", "drained", "not_ours", "not_ours"]
    assert result.total(contract.METRIC_NOT_OURS) == 2
    for name in ("spot-a", "spot-b"):
        assert api.get(f"/api/v1/nodes/{name}")[1]["spec"]["unschedulable"] is True


def test_without_rbac_the_notice_is_given_back_and_the_log_says_what_to_type(
    plane: ControlPlane, api: Api, stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    instance_id = an_instance(CLUSTER)
    api.apply(a_node("spot-a", instance_id))
    stage.put(a_fresh_notice(instance_id, SystemClock().now() - timedelta(seconds=125)))
    messages = stage.receive()
    result = invoke(batch_of(messages), PlaneComposition(stage.deployment, plane), capsys)

    assert result.failures == [messages[0]["MessageId"]]
    assert result.total(contract.METRIC_CLUSTER_FORBIDDEN)
    assert "evac rbac | kubectl apply -f -" in str(result.logs)
