import io
import json
import re
from contextlib import redirect_stdout
from typing import Any

import pytest

from lambdas import contract
from lambdas.handlers.metrics import Tally
from tests.infra.synth import CLUSTER, ROOT, Template, named, notice_rules, resources, synthesize

ALARM = "AWS::CloudWatch::Alarm"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:on-call"

OUR_METRICS = {value for name, value in vars(contract).items() if name.startswith("METRIC_")}

MENDABLE = {
    contract.METRIC_CLUSTER_UNAUTHENTICATED,
    contract.METRIC_CLUSTER_FORBIDDEN,
    contract.METRIC_GIVEN_BACK,
    contract.METRIC_PODS_LOST,
    contract.METRIC_LEDGER_FAILED,
    contract.METRIC_MALFORMED,
    contract.METRIC_SWEEP_FAILED,
}
LIFE = {contract.METRIC_SWEEPS}


def _alarms(template: Template) -> list[dict[str, Any]]:
    return list(resources(template, ALARM).values())


def _watching(template: Template, namespace: str, metric: str) -> list[dict[str, Any]]:
    """The alarms on a metric, with their dimensions as a plain mapping under `on`."""
    return [
        alarm | {"on": {it["Name"]: it["Value"] for it in alarm["Dimensions"]}}
        for alarm in _alarms(template)
        if (alarm.get("Namespace"), alarm.get("MetricName")) == (namespace, metric)
    ]


def _polls(template: Template) -> dict[str, Any]:
    (found,) = [alarm for alarm in _alarms(template) if "Metrics" in alarm]
    return found


def _heartbeats(template: Template) -> list[dict[str, Any]]:
    """The alarms that ring when something stops, by their direction."""
    return [alarm for alarm in _alarms(template) if alarm["ComparisonOperator"] == "LessThanThreshold"]


def _text(value: Any) -> str:
    """A text with its references filled in by names as long as real ones."""
    match value:
        case str():
            return value
        case {"Fn::Join": ["", parts]}:
            return "".join(_text(part) for part in parts)
        case {"Ref": "AWS::Region"}:
            return "ap-southeast-2"
        case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
            return f"https://sqs.ap-southeast-2.amazonaws.com/123456789012/evac-{CLUSTER}-{name}-ABCDEFGHIJKL"
    raise AssertionError(value)


@pytest.mark.parametrize("metric", ["FailedInvocations", "InvocationsFailedToBeSentToDlq"])
def test_every_rule_is_watched_for_events_that_it_loses(template: Template, metric: str) -> None:
    watched = [alarm["on"] for alarm in _watching(template, "AWS/Events", metric)]
    assert watched == [{"RuleName": {"Ref": rule}} for rule in notice_rules(template)]


def test_every_dead_letter_queue_rings_when_it_is_not_empty(template: Template) -> None:
    watched = _watching(template, "AWS/SQS", "ApproximateNumberOfMessagesVisible")
    dead_letters = [named(template, part, "AWS::SQS::Queue") for part in ("Undelivered", "Rejected")]
    assert [alarm["on"]["QueueName"] for alarm in watched] == [
        {"Fn::GetAtt": [queue, "QueueName"]} for queue in dead_letters
    ]


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_the_function_is_watched(template: Template, metric: str) -> None:
    watched = [alarm["on"]["FunctionName"]["Ref"] for alarm in _watching(template, "AWS/Lambda", metric)]
    assert named(template, "InterruptionFunction", "AWS::Lambda::Function") in watched


def test_a_sweeper_that_crashes_is_noticed_and_a_throttled_one_is_only_busy(template: Template) -> None:
    sweeper = {"FunctionName": {"Ref": named(template, "SweeperFunction", "AWS::Lambda::Function")}}
    (errors,) = [alarm for alarm in _watching(template, "AWS/Lambda", "Errors") if alarm["on"] == sweeper]
    assert "aws logs tail" in _text(errors["AlarmDescription"])
    assert sweeper not in [alarm["on"] for alarm in _watching(template, "AWS/Lambda", "Throttles")]


def test_sweeps_that_stop_are_noticed_within_minutes_and_one_long_sweep_is_none(template: Template) -> None:
    (alarm,) = _watching(template, contract.METRICS_NAMESPACE, contract.METRIC_SWEEPS)
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert (alarm["Statistic"], alarm["Period"]) == ("Sum", 60)
    assert alarm["DatapointsToAlarm"] == 5
    assert alarm["DatapointsToAlarm"] * 60 > contract.FUNCTION_TIMEOUT_SECONDS + 60
    assert "aws events describe-rule" in _text(alarm["AlarmDescription"])


def test_one_count_in_one_minute_rings_and_no_data_is_good(template: Template) -> None:
    for alarm in _alarms(template):
        if alarm not in _heartbeats(template):
            assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
            assert (alarm["Threshold"], alarm["Period"], alarm["EvaluationPeriods"]) == (1, 60, 1)
            assert alarm["TreatMissingData"] == "notBreaching"
            assert alarm["Statistic"] in {"Sum", "Maximum"}


def test_a_queue_that_nobody_polls_is_noticed_whether_it_sends_zeros_or_nothing(template: Template) -> None:
    heartbeat = _polls(template)
    expression, *metrics = heartbeat["Metrics"]
    assert expression["Expression"] == "FILL(empty, 0) + FILL(received, 0)"
    assert {it["Id"]: it["MetricStat"]["Metric"]["MetricName"] for it in metrics} == {
        "empty": "NumberOfEmptyReceives",
        "received": "NumberOfMessagesReceived",
    }
    queue = {"Fn::GetAtt": [named(template, "Notices", "AWS::SQS::Queue"), "QueueName"]}
    for it in metrics:
        assert it["MetricStat"]["Metric"]["Dimensions"] == [{"Name": "QueueName", "Value": queue}]
        assert (it["MetricStat"]["Period"], it["MetricStat"]["Stat"]) == (60, "Sum")
    assert (heartbeat["ComparisonOperator"], heartbeat["Threshold"]) == ("LessThanThreshold", 1)


def test_a_heartbeat_bears_one_late_or_odd_minute_and_rings_within_minutes(template: Template) -> None:
    assert len(_heartbeats(template)) == 2
    for heartbeat in _heartbeats(template):
        assert heartbeat["TreatMissingData"] == "breaching"
        assert heartbeat["DatapointsToAlarm"] == heartbeat["EvaluationPeriods"] - 1
        assert heartbeat["EvaluationPeriods"] <= 6


def test_what_an_operator_can_mend_is_watched_in_metrics_that_the_contract_has(template: Template) -> None:
    watched = {alarm["MetricName"] for alarm in _alarms(template) if alarm.get("Namespace") == "Evac"}
    assert contract.METRICS_NAMESPACE == "Evac"
    assert watched == MENDABLE | LIFE
    assert watched <= OUR_METRICS


def test_401_and_403_ring_apart_each_with_its_cure(template: Template) -> None:
    (unknown,) = _watching(template, contract.METRICS_NAMESPACE, contract.METRIC_CLUSTER_UNAUTHENTICATED)
    (refused,) = _watching(template, contract.METRICS_NAMESPACE, contract.METRIC_CLUSTER_FORBIDDEN)
    assert "aws eks describe-access-entry" in _text(unknown["AlarmDescription"])
    assert "evac rbac | kubectl apply -f -" in _text(refused["AlarmDescription"])


def test_alarms_look_where_the_function_counts(template: Template) -> None:
    tally = Tally(CLUSTER)
    for metric in MENDABLE | LIFE:
        tally.count(metric)
    with redirect_stdout(io.StringIO()) as printed:
        tally.flush()
    emitted = json.loads(printed.getvalue())
    (definition,) = emitted["_aws"]["CloudWatchMetrics"]
    (names,) = definition["Dimensions"]
    for metric in MENDABLE | LIFE:
        (alarm,) = _watching(template, definition["Namespace"], metric)
        assert alarm["on"] == {name: emitted[name] for name in names}


def test_every_alarm_says_what_it_means_for_nodes_and_what_to_type(template: Template) -> None:
    for alarm in _alarms(template):
        text = _text(alarm["AlarmDescription"])
        assert re.search(r"\b[Nn]odes?\b|\bdrain\b", text), text
        assert re.search(r"(: |\. |\) )(aws|evac) [a-z].*$", text), text
        assert len(text) <= 1024, "CloudWatch API reference, PutMetricAlarm"
        assert "\n" not in text


def test_descriptions_fit_for_the_longest_cluster_name() -> None:
    for alarm in _alarms(synthesize(clusterName="x" * 100)):
        assert len(_text(alarm["AlarmDescription"])) <= 1024


def test_only_states_tell_when_they_are_over(template: Template) -> None:
    told = [name for name, alarm in resources(template, ALARM).items() if "OKActions" in alarm]
    assert sorted(told) == sorted(
        named(template, part, ALARM) for part in ("UndeliveredNotEmpty", "RejectedNotEmpty", "NobodyPolls", "NoSweeps")
    )


def test_every_alarm_publishes_to_the_topic_that_was_made(template: Template) -> None:
    topic = {"Ref": named(template, "Topic", "AWS::SNS::Topic")}
    assert all(alarm["AlarmActions"] == [topic] for alarm in _alarms(template))


def test_the_topic_takes_alarms_of_this_account_over_tls_and_has_no_key_that_would_refuse_them(
    template: Template,
) -> None:
    (topic_id,) = resources(template, "AWS::SNS::Topic")
    assert "KmsMasterKeyId" not in template["Resources"][topic_id]["Properties"]
    (policy,) = resources(template, "AWS::SNS::TopicPolicy").values()
    deny, allow = policy["PolicyDocument"]["Statement"]
    assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allow == {
        "Sid": "AlarmsMayPublish",
        "Effect": "Allow",
        "Principal": {"Service": "cloudwatch.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": {"Ref": topic_id},
        "Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}},
    }


def test_a_topic_that_was_given_is_used_and_left_alone() -> None:
    template = synthesize(alarmTopicArn=TOPIC)
    assert all(alarm["AlarmActions"] == [TOPIC] for alarm in _alarms(template))
    assert not resources(template, "AWS::SNS::Topic")
    assert not resources(template, "AWS::SNS::TopicPolicy")


def test_an_address_that_was_given_is_subscribed() -> None:
    (subscription,) = resources(synthesize(alarmEmail="a@b.co"), "AWS::SNS::Subscription").values()
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "a@b.co")


def test_the_readme_tells_of_every_alarm_and_what_all_of_them_cost(template: Template) -> None:
    readme = (ROOT / "README.md").read_text()
    names = {logical.removeprefix("Alarms")[:-8] for logical in resources(template, ALARM)}
    assert [name for name in names if name.removeprefix("SpotInterruption") not in readme] == []
    metrics = sum(
        len([it for it in alarm.get("Metrics", [{}]) if "Expression" not in it]) for alarm in _alarms(template)
    )
    assert f"{metrics} metrics' alarms ${metrics / 10:.2f}" in readme, "CloudWatch asks $0.10 a month for each metric"
