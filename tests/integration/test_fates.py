"""Each message of a batch finds its own fate, whatever its neighbours are."""

import json

import boto3
import pytest

from lambdas import contract
from tests.integration.invocations import SimulatedComposition, invoke
from tests.integration.stage import Stage, a_cluster, a_notice_for, an_instance, ids_of
from tests.scenes import at, bare
from tests.unit.events.bodies import an_event, through_topics

Capture = pytest.CaptureFixture[str]


def test_malformed_neighbours_cost_a_notice_nothing_and_are_kept(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    bad = an_event(detail={"instance-id": "../../nodes"})
    batch = stage.batch("?", a_notice_for(instance_id), bad, "[" * 100_000, an_event("EBS Volume Notification"))
    result = invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys)

    assert result.failures == []
    assert result.endings() == {"spot-0": "drained"}
    kept = {message["Body"][:20]: message["MessageAttributes"]["reason"]["StringValue"] for message in stage.rejected()}
    assert kept[json.dumps(bad)[:20]] == 'detail.instance-id: "../../nodes" is no instance id'
    assert len(kept) == 3 == result.total(contract.METRIC_MALFORMED)
    assert result.total(contract.METRIC_IGNORED) == 1
    assert "../../nodes" in result.errors()


def test_a_malformed_message_that_cannot_be_kept_is_given_back_and_only_it(stage: Stage, capsys: Capture) -> None:
    boto3.client("sqs").delete_queue(QueueUrl=stage.deployment.malformed_queue_url)
    instance_id = an_instance()
    batch = stage.batch(a_notice_for(instance_id), "?")
    result = invoke(batch, SimulatedComposition(stage.deployment, a_cluster(instance_id)), capsys)

    _, malformed = ids_of(batch)
    assert result.failures == [malformed]
    assert result.total(contract.METRIC_GIVEN_BACK) == 1
    assert result.endings() == {"spot-0": "drained"}
    assert stage.seconds_until_visible()[malformed] <= contract.GIVEN_BACK_VISIBILITY_SECONDS
    assert "does not exist" in result.errors()


def test_all_nodes_of_a_batch_are_drained_side_by_side(stage: Stage, capsys: Capture) -> None:
    ids = [an_instance() for _ in range(4)]
    simulation = a_cluster(*ids)
    through = [json.dumps(a_notice_for(i)) for i in ids]
    batch = stage.batch(through[0], through_topics(through[1]), through_topics(through[2], 2), through[3])
    result = invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys)

    assert result.failures == []
    assert result.endings() == {f"spot-{i}": "drained" for i in range(4)}
    assert result.total(contract.METRIC_PODS_GRACEFUL) == 8
    assert (simulation.clock.now() - at(1)).total_seconds() < 45  # four waves of the Deployment's surge, of 10 s each


def test_several_messages_for_one_instance_are_one_drain_and_all_acknowledged(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    batch = stage.batch(a_notice_for(instance_id), a_notice_for(instance_id, seconds=-1), a_notice_for(instance_id))
    result = invoke(batch, SimulatedComposition(stage.deployment, a_cluster(instance_id)), capsys)

    assert result.failures == []
    (record,) = result.drains()
    assert record["notice"]["noticed_at"] == "2026-11-02T03:04:04.000Z"
    assert result.total(contract.METRIC_NOTICES) == 3
    assert result.total(contract.METRIC_PODS_GRACEFUL) == 2


@pytest.mark.parametrize("cluster", ["another", None])
def test_an_instance_of_nobody_s_or_another_cluster_is_acknowledged_cheaply(
    stage: Stage, capsys: Capture, cluster: str | None
) -> None:
    simulation = a_cluster()
    composition = SimulatedComposition(stage.deployment, simulation)
    result = invoke(stage.batch(a_notice_for(an_instance(cluster))), composition, capsys)

    assert result.failures == []
    assert result.total(contract.METRIC_NOT_OURS) == 1
    assert (simulation.clock.now() - at(1)).total_seconds() < 0.5


def test_an_instance_that_ec2_does_not_know_is_acknowledged(stage: Stage, capsys: Capture) -> None:
    composition = SimulatedComposition(stage.deployment, a_cluster())
    result = invoke(stage.batch(a_notice_for("i-0a1b2c3d4e5f60718")), composition, capsys)
    assert (result.failures, result.total(contract.METRIC_ALREADY_GONE)) == ([], 1)


def test_an_old_backlog_touches_nothing_and_is_acknowledged(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    batch = stage.batch(a_notice_for(instance_id, seconds=-600))
    result = invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys)

    assert (result.failures, result.total(contract.METRIC_STALE)) == ([], 1)
    assert result.total(contract.METRIC_NOTICE_AGE) == 601
    assert not (simulation.get("Node", "", "spot-0") or {})["spec"].get("unschedulable")


def test_a_late_notice_is_drained_all_the_same_and_counted(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    batch = stage.batch(a_notice_for(instance_id, seconds=-130))
    result = invoke(batch, SimulatedComposition(stage.deployment, a_cluster(instance_id)), capsys)
    assert (result.failures, result.total(contract.METRIC_LATE)) == ([], 1)
    assert result.total(contract.METRIC_PODS_GRACEFUL) == 2


def test_a_second_delivery_of_a_notice_already_worked_off_is_acknowledged(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    composition = SimulatedComposition(stage.deployment, simulation)
    invoke(stage.batch(a_notice_for(instance_id)), composition, capsys)
    simulation.apply(bare("newcomer", "spot-0"))
    result = invoke(stage.batch(a_notice_for(instance_id)), composition, capsys)

    assert (result.failures, result.endings()) == ([], {"spot-0": "joined"})
    assert simulation.get("Pod", "default", "newcomer")
