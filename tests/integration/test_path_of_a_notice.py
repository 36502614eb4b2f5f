"""From an event on the bus to a drained node: the rules, queues, table and variables of the synthesized template."""

import json

import boto3
import pytest

from evac.simulator import Simulation
from lambdas import contract
from tests.infra.synth import CLUSTER
from tests.integration.invocations import SimulatedComposition, invoke
from tests.integration.stage import Stage, a_node, a_notice_for, a_simulation, an_instance, batch_of
from tests.scenes import budget, deployment, node, spot_notice
from tests.unit.events.bodies import recorded_cases


def a_web_cluster(instance_id: str) -> Simulation:
    """Three pods of five on the spot node, and room elsewhere."""
    web = deployment("web", {"spot-a": 3, "safe": 2})
    return a_simulation(
        a_node("spot-a", instance_id), node("safe"), *web, budget("web", {"app": "web"}, maxUnavailable=1), spot_a=120
    )


def test_a_notice_on_the_bus_drains_its_node(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    instance_id = an_instance()
    stage.put(a_notice_for(instance_id))
    messages = stage.receive()
    assert len(messages) == 1
    simulation = a_web_cluster(instance_id)
    result = invoke(batch_of(messages), SimulatedComposition(stage.deployment, simulation), capsys)

    assert result.failures == []
    found = simulation.get("Node", "", "spot-a")
    assert found is not None
    assert found["spec"]["unschedulable"] is True
    assert sum(story.was_graceful for story in simulation.journal.on("spot-a")) == 3
    (record,) = result.drains()
    assert (record["node"], record["ending"], len(record["pods"])) == ("spot-a", "drained", 3)
    item = boto3.client("dynamodb").get_item(
        TableName=stage.deployment.ledger_table, Key={contract.LEDGER_KEY: {"S": instance_id}}
    )["Item"]
    assert json.loads(item["record"]["S"]) == record


def test_what_was_measured_has_the_contract_s_names_and_dimensions(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    instance_id = an_instance()
    stage.put(a_notice_for(instance_id))
    composition = SimulatedComposition(stage.deployment, a_web_cluster(instance_id))
    result = invoke(batch_of(stage.receive()), composition, capsys)

    (line,) = result.metrics
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == contract.METRICS_NAMESPACE
    assert [set(names) for names in directive["Dimensions"]] == [{"service", "cluster"}]
    assert {name: line[name] for name in ("service", "cluster")} == contract.metric_dimensions(CLUSTER)
    assert line[contract.METRIC_NOTICES] == [1]
    assert line[contract.METRIC_NOTICE_AGE] == [1]
    assert 1 < line[contract.METRIC_TIME_TO_CORDON][0] < 1.1
    assert 1 < line[contract.METRIC_TIME_TO_FIRST_ACTION][0] < 1.2
    assert 11 < line[contract.METRIC_TIME_TO_FIRST_EVICTION][0] < 11.3  # a replacement's start-up time later
    assert 60 < line[contract.METRIC_SECONDS_TO_SPARE][0] < 118
    assert line[contract.METRIC_PODS_GRACEFUL] == [3]
    assert line[contract.METRIC_PODS_LOST] == [0]
    assert contract.METRIC_GIVEN_BACK not in line


def test_only_what_the_rules_take_arrives_and_each_of_it_finds_its_fate(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [json.loads(case.body) for case in recorded_cases() if _is_an_event(case.body)]
    for event in events:
        stage.put(event)
    messages = stage.receive()
    taken = [event for event in events if (event["source"], event["detail-type"]) == _SPOT]
    assert sorted(json.loads(m["Body"])["detail"].items() for m in messages) == sorted(
        event["detail"].items() for event in taken
    )
    composition = SimulatedComposition(stage.deployment, a_simulation(node("safe")))
    result = invoke(batch_of(messages), composition, capsys)

    assert result.failures == []
    malformed = {case.body for case in recorded_cases() if case.expect["kind"] == "malformed"}
    refused = [event for event in taken if json.dumps(event) in malformed]
    assert refused
    assert result.total(contract.METRIC_MALFORMED) == len(refused) == len(stage.rejected())
    assert result.total(contract.METRIC_NOTICES) == len(taken) - len(refused)


def test_a_recorded_body_of_any_form_finds_its_fate(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case for case in recorded_cases() if case.body]  # SQS carries no empty body
    stage.send(*(case.body for case in cases))
    messages = stage.receive()
    assert len(messages) == len(cases)
    composition = SimulatedComposition(stage.deployment, a_simulation(node("safe")))
    result = invoke(batch_of(messages), composition, capsys)

    kinds = [case.expect["kind"] for case in cases]
    assert result.failures == []
    assert result.total(contract.METRIC_MALFORMED) == kinds.count("malformed")
    assert result.total(contract.METRIC_NOTICES) == kinds.count("interruption")
    assert result.total(contract.METRIC_IGNORED) == len(kinds) - kinds.count("malformed") - kinds.count("interruption")
    kept = {message["Body"]: message["MessageAttributes"]["reason"]["StringValue"] for message in stage.rejected()}
    assert set(kept) == {case.body for case in cases if case.expect["kind"] == "malformed"}
    assert 'detail.instance-id: "../../nodes" is no instance id' in kept.values()


_SPOT = (contract.SOURCE_EC2, contract.DETAIL_SPOT_INTERRUPTION)


def _is_an_event(body: str) -> bool:
    """Whether EventBridge itself would take it (a detail that is an object, a time that is one)."""
    try:
        event = json.loads(body)
    except ValueError:
        return False
    return isinstance(event, dict) and isinstance(event.get("detail"), dict) and event["time"] != "yesterday"


def test_the_rules_take_no_other_source_s_word_for_a_notice(stage: Stage) -> None:
    stage.put(spot_notice("spot-a") | {"source": "com.example"})
    assert stage.receive() == []
