"""One thing or another is broken: nodes are drained where it can be, and nothing is lost where it cannot."""

import json

import pytest

from lambdas import contract
from lambdas.domain.values.answers import Passing
from lambdas.handlers.composition import AwsComposition
from tests.integration.invocations import BrokenComposition, FakeContext, SimulatedComposition, invoke
from tests.integration.stage import Stage, a_cluster, a_node, a_notice_for, a_simulation, an_instance, ids_of
from tests.integration.wire import NOBODY_LISTENS
from tests.scenes import at, bare

Capture = pytest.CaptureFixture[str]


def test_without_ec2_the_node_is_drained(stage: Stage, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    instance_id = an_instance()
    monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", NOBODY_LISTENS)
    composition = SimulatedComposition(stage.deployment, a_cluster(instance_id))
    result = invoke(stage.batch(a_notice_for(instance_id)), composition, capsys)

    assert (result.failures, result.endings()) == ([], {"spot-0": "drained"})
    assert "ec2:DescribeInstances" in json.dumps(result.drains()[0]["problems"])


def test_without_the_ledger_the_node_is_drained_and_it_is_counted(
    stage: Stage, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance_id = an_instance()
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", NOBODY_LISTENS)
    composition = SimulatedComposition(stage.deployment, a_cluster(instance_id))
    result = invoke(stage.batch(a_notice_for(instance_id)), composition, capsys)

    assert (result.failures, result.endings()) == ([], {"spot-0": "drained"})
    assert result.total(contract.METRIC_LEDGER_FAILED) == 1
    assert "dynamodb:UpdateItem" in json.dumps(result.drains()[0]["problems"])


def test_without_the_queue_the_node_is_drained_and_nothing_malformed_is_lost(
    stage: Stage, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance_id = an_instance()
    batch = stage.batch(a_notice_for(instance_id), "?")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", NOBODY_LISTENS)
    # Its host's end comes soon, so that the queue is not asked in vain for long.
    simulation = a_simulation(a_node("spot-0", instance_id), bare("task", "spot-0"), now=at(100))
    result = invoke(batch, SimulatedComposition(stage.deployment, simulation), capsys)

    assert result.endings() == {"spot-0": "drained"}
    assert result.failures == [ids_of(batch)[1]]
    assert "sqs:ChangeMessageVisibility" in result.errors()


def test_what_the_invocation_s_time_does_not_suffice_for_is_given_back_and_taken_up_again(
    stage: Stage, capsys: Capture
) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    composition = SimulatedComposition(stage.deployment, simulation)
    batch = stage.batch(a_notice_for(instance_id))
    first = invoke(batch, composition, capsys, FakeContext(remaining_seconds=11))

    assert first.failures == ids_of(batch)
    assert first.endings() == {"spot-0": "failed"}
    assert first.total(contract.METRIC_GIVEN_BACK) == 1
    (seconds,) = stage.seconds_until_visible().values()
    assert seconds <= contract.GIVEN_BACK_VISIBILITY_SECONDS

    second = invoke(batch, composition, capsys)
    assert (second.failures, second.endings()) == ([], {"spot-0": "drained"})
    assert second.total(contract.METRIC_PODS_GRACEFUL) == 2


def test_a_fault_of_ours_gives_the_notices_back_and_costs_the_others_nothing(stage: Stage, capsys: Capture) -> None:
    batch = stage.batch(a_notice_for(an_instance()), "?", a_notice_for("i-1a2b3c4d"))
    result = invoke(batch, BrokenComposition(stage.deployment, a_cluster()), capsys)

    first, _, third = ids_of(batch)
    assert set(result.failures) == {first, third}
    assert len(stage.rejected()) == 1
    assert all(stage.seconds_until_visible()[i] <= contract.GIVEN_BACK_VISIBILITY_SECONDS for i in (first, third))
    (line,) = [line for line in result.logs if "a fault of ours" in line["message"]]
    assert "RuntimeError: not even an error of ours" in line["exception"]


def test_a_401_that_stays_is_counted_and_its_cure_named(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    simulation.faults.token_expired(times=100_000)
    result = invoke(stage.batch(a_notice_for(instance_id)), SimulatedComposition(stage.deployment, simulation), capsys)
    assert len(result.failures) == 1
    assert result.total(contract.METRIC_CLUSTER_UNAUTHENTICATED) == 1
    assert "access entry" in result.errors()


def test_a_403_on_one_verb_is_counted_and_its_cure_named(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    simulation.reclaim("spot-0", at(120))
    simulation.faults.forbidden("create", "pods/eviction")
    result = invoke(stage.batch(a_notice_for(instance_id)), SimulatedComposition(stage.deployment, simulation), capsys)
    assert result.total(contract.METRIC_CLUSTER_FORBIDDEN) == 1
    assert "evac rbac" in result.errors()


def test_an_api_server_away_for_good_gives_the_notice_back(stage: Stage, capsys: Capture) -> None:
    instance_id = an_instance()
    simulation = a_cluster(instance_id)
    simulation.faults.api_away(at(0), at(100_000))
    result = invoke(stage.batch(a_notice_for(instance_id)), SimulatedComposition(stage.deployment, simulation), capsys)
    assert len(result.failures) == 1
    assert result.endings() == {instance_id: "failed"}
    assert Passing("the API server cannot be reached").message in result.errors()


def test_a_cluster_that_eks_cannot_find_gives_the_notices_back_and_says_why(stage: Stage, capsys: Capture) -> None:
    stage.environment.pop(contract.ENV_CLUSTER_ENDPOINT, None)
    stage.environment.pop(contract.ENV_CLUSTER_CA, None)
    batch = stage.batch(a_notice_for(an_instance()), "?")
    result = invoke(batch, AwsComposition(stage.deployment), capsys)

    assert result.failures == ids_of(batch)[:1]
    assert len(stage.rejected()) == 1
    assert "eks:DescribeCluster: cluster demo does not exist" in result.errors()
