"""One invocation of the handler, and what came out of it."""

import io
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aws_lambda_powertools import Logger

from evac.memory import InlineBackground
from evac.simulator import Simulation
from lambdas.application.ports import Clock, MessageLease, Reporter
from lambdas.application.requests import Ports
from lambdas.domain.values.notices import Instance
from lambdas.handlers.composition import AwsComposition
from lambdas.handlers.interruption import respond
from lambdas.handlers.settings import Deployment
from tests.scenes import Json


@dataclass(slots=True)
class FakeContext:
    """Lambda's context object, as far as powertools and we read it."""

    remaining_seconds: float = 180
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    function_name: str = "evac"
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = 1769
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:evac"
    log_group_name: str = "evac"
    log_stream_name: str = "0"

    def get_remaining_time_in_millis(self) -> int:
        return int(self.remaining_seconds * 1000)


class SimulatedComposition(AwsComposition):
    """The function's own composition, with a simulated cluster for EKS and its virtual clock for the system's."""

    def __init__(self, deployment: Deployment, simulation: Simulation) -> None:
        super().__init__(deployment)
        self.simulation = simulation

    @property
    def clock(self) -> Clock:
        return self.simulation.clock

    @contextmanager
    def drain_ports(self, messages: MessageLease | None, reporter: Reporter) -> Iterator[Ports]:
        cluster = self.simulation.cluster()
        yield self.ports(cluster, InlineBackground(cluster.wake), messages, reporter)
        cluster.close()


class BrokenComposition(SimulatedComposition):
    """One whose cluster has a fault of ours in it: it raises what no port may raise."""

    @contextmanager
    def drain_ports(self, messages: MessageLease | None, reporter: Reporter) -> Iterator[Ports]:
        with super().drain_ports(messages, reporter) as ports:
            yield replace(ports, directory=_Broken())


class _Broken:
    def describe(self, instance_ids: Iterable[str]) -> Mapping[str, Instance]:
        raise RuntimeError(f"not even an error of ours, about {', '.join(instance_ids)}")


@dataclass(frozen=True, slots=True)
class Result:
    """What an invocation answered, logged and counted."""

    failures: list[str]
    logs: list[dict[str, Any]]
    metrics: list[dict[str, Any]]

    def total(self, name: str) -> float | None:
        """The sum of a metric; None where it was not sent."""
        values = [value for line in self.metrics for value in line.get(name, ())]
        return sum(values) if values else None

    def drains(self) -> list[dict[str, Any]]:
        """The records in the log."""
        return [line["drain"] for line in self.logs if "drain" in line]

    def endings(self) -> dict[str, str]:
        """How each drain ended, by its node's name, or by its instance where no node was found."""
        return {record["node"] or record["notice"]["instance_id"]: record["ending"] for record in self.drains()}

    def errors(self) -> str:
        """All that was said in warnings and errors."""
        return "\n".join(line["message"] for line in self.logs if line["level"] in ("ERROR", "WARNING"))


def invoke(event: Json, composition: AwsComposition, output: Any, context: FakeContext | None = None) -> Result:
    """One invocation; `output` is pytest's capsys, where metrics go."""
    stream = io.StringIO()
    logger = Logger(service=f"evac-{uuid.uuid4()}", stream=stream)
    output.readouterr()
    answer = respond(event, context or FakeContext(), composition, logger)
    metrics = [json.loads(line) for line in output.readouterr().out.splitlines()]
    logs = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert set(answer) == {"batchItemFailures"}
    return Result([failure["itemIdentifier"] for failure in answer["batchItemFailures"]], logs, metrics)
