"""The sweeper function on the deployed table and EC2, with a simulated cluster: what it does, logs and counts."""

import io
import json
import uuid
from typing import Any

import boto3
import pytest
from aws_lambda_powertools import Logger

from evac.memory import CollectingReporter, InlineBackground
from evac.simulator import Killed, Simulation
from lambdas import contract
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import MessageLease, Reporter
from lambdas.application.requests import Ports, Request
from lambdas.domain.errors import PassingError
from lambdas.domain.values.notices import Notice, Reason
from lambdas.handlers.sweeper import run
from tests.integration.invocations import FakeContext, SimulatedComposition
from tests.integration.stage import Stage, a_node, a_simulation, an_instance
from tests.scenes import at, budget, deployment, node, times


class Swept:
    """One sweep: its answer, its log and its metrics."""

    def __init__(self, stage: Stage, simulation: Simulation, output: Any, kind: type = SimulatedComposition) -> None:
        stream = io.StringIO()
        output.readouterr()
        composition = kind(stage.deployment, simulation)
        self.answer = run(FakeContext(), composition, Logger(service=f"evac-{uuid.uuid4()}", stream=stream))
        self.logs = [json.loads(line) for line in stream.getvalue().splitlines()]
        self.metrics = [json.loads(line) for line in output.readouterr().out.splitlines()]

    def total(self, name: str) -> float:
        return float(sum(value for line in self.metrics for value in line.get(name, ())))


def left_behind(instance_id: str, killed_at: float = 3) -> Simulation:
    """A cluster whose drain died with pods released."""
    web = deployment("web", {"spot-a": 8, "safe": 2}, annotations=times(10, 2))
    shut = budget("web", {"app": "web"}, maxUnavailable=1)
    simulation = a_simulation(a_node("spot-a", instance_id), node("safe"), *web, shut)
    port = simulation.cluster()
    simulation.schedule(at(killed_at), port.kill)
    notice = Notice(instance_id, Reason.SPOT_INTERRUPTION, at(0), at(120))
    with pytest.raises(Killed):
        evacuate([Request(notice)], Ports(simulation.clock, port, InlineBackground(), CollectingReporter()))
    return simulation


def test_a_quiet_cluster_is_swept_and_counted(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    swept = Swept(stage, a_simulation(node("safe")), capsys)
    assert swept.answer == {"nodes": 0, "pods": 0, "done": 0}
    assert swept.total(contract.METRIC_SWEEPS) == 1
    assert swept.logs == []


def test_a_drain_whose_process_died_is_finished_under_its_lock(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    instance_id = an_instance()
    simulation = left_behind(instance_id)
    simulation.reclaim("spot-a", at(120))
    simulation.run_until(at(60))
    swept = Swept(stage, simulation, capsys)
    assert swept.total(contract.METRIC_SWEPT) == 1
    assert swept.total(contract.METRIC_PODS_GRACEFUL) == 8
    item = boto3.client("dynamodb").get_item(
        TableName=stage.deployment.ledger_table, Key={contract.LEDGER_KEY: {"S": instance_id}}
    )["Item"]
    assert json.loads(item["record"]["S"])["ending"] == "drained"
    assert "1 drains taken over" in swept.logs[-1]["message"]


def test_where_ec2_says_that_the_host_lives_on_everything_is_given_back(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = left_behind(an_instance())
    simulation.run_until(at(200))
    swept = Swept(stage, simulation, capsys)
    found = simulation.get("Node", "", "spot-a")
    assert found is not None
    assert not found["spec"].get("unschedulable")
    assert contract.LABEL_DRAINING not in found["metadata"]["labels"]
    assert swept.total(contract.METRIC_SWEPT) == swept.answer["done"] > 1


def test_where_ec2_has_terminated_it_nothing_is_touched(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    instance_id = an_instance()
    simulation = left_behind(instance_id)
    ec2: Any = boto3.client("ec2")
    ec2.terminate_instances(InstanceIds=[instance_id])
    simulation.run_until(at(200))
    assert Swept(stage, simulation, capsys).answer["done"] == 0


def test_what_may_not_be_given_back_makes_the_sweep_a_failed_one(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = left_behind(an_instance())
    simulation.run_until(at(200))
    simulation.faults.forbidden("patch", "pods")
    swept = Swept(stage, simulation, capsys)
    assert swept.total(contract.METRIC_SWEEP_FAILED) == 1
    assert swept.total(contract.METRIC_CLUSTER_FORBIDDEN) == 1
    found = simulation.get("Node", "", "spot-a")
    assert found is not None
    assert found["spec"]["unschedulable"], "a node with released pods on it keeps its marks"


class Unreachable(SimulatedComposition):
    """One whose cluster cannot be found."""

    def drain_ports(self, messages: MessageLease | None, reporter: Reporter) -> Any:
        raise PassingError("EKS is away.")


def test_a_sweep_that_cannot_begin_is_counted_as_failed_and_raises_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    swept = Swept(stage, a_simulation(node("safe")), capsys, Unreachable)
    assert swept.total(contract.METRIC_SWEEP_FAILED) == 1
    assert swept.total(contract.METRIC_SWEEPS) == 0
    assert "EKS is away" in swept.logs[0]["message"]
