from datetime import timedelta

import pytest

from infra.sweeper import EVENT_AGE_SECONDS
from lambdas import contract
from tests.infra.synth import Template, named, of_function, resources, synthesize, the_one

FUNCTION = "AWS::Lambda::Function"
RULE = "AWS::Events::Rule"


def _sweeper(template: Template) -> dict[str, object]:
    function: dict[str, object] = of_function(template, "Sweeper", FUNCTION)
    return function


def test_it_runs_what_the_interruption_function_runs_on_the_same_settings() -> None:
    inside = {"subnetIds": "subnet-0a1b2c3d", "securityGroupIds": "sg-0a1b2c3d"}
    template = synthesize(dryRun=True, budgets="deadline", release="all", **inside)
    interruption, sweeper = of_function(template, "Interruption", FUNCTION), _sweeper(template)
    alike = ("Code", "Layers", "Runtime", "Architectures", "Timeout", "Environment", "VpcConfig")
    assert {name: sweeper[name] for name in alike} == {name: interruption[name] for name in alike}
    assert sweeper["Handler"] == contract.HANDLER_SWEEPER


def test_it_is_small_with_logs_of_its_own(template: Template) -> None:
    sweeper = _sweeper(template)
    assert sweeper["MemorySize"] == 512
    assert sweeper["LoggingConfig"] == {"LogGroup": {"Ref": named(template, "SweeperLogs", "AWS::Logs::LogGroup")}}


def test_it_runs_each_minute_and_the_next_minute_is_its_only_retry(template: Template) -> None:
    rule = of_function(template, "Sweeper", RULE)
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    function = named(template, "SweeperFunction", FUNCTION)
    assert rule["Targets"] == [
        {
            "Id": "Sweeper",
            "Arn": {"Fn::GetAtt": [function, "Arn"]},
            "RetryPolicy": {"MaximumEventAgeInSeconds": EVENT_AGE_SECONDS, "MaximumRetryAttempts": 0},
        }
    ]
    assert the_one(template, "AWS::Lambda::EventInvokeConfig") == {
        "FunctionName": {"Ref": function},
        "Qualifier": "$LATEST",
        "MaximumEventAgeInSeconds": EVENT_AGE_SECONDS,
        "MaximumRetryAttempts": 0,
    }
    assert timedelta(seconds=EVENT_AGE_SECONDS) == timedelta(minutes=1)


def test_nobody_but_its_schedule_may_invoke_it(template: Template) -> None:
    assert the_one(template, "AWS::Lambda::Permission") == {
        "Action": "lambda:InvokeFunction",
        "FunctionName": {"Fn::GetAtt": [named(template, "SweeperFunction", FUNCTION), "Arn"]},
        "Principal": "events.amazonaws.com",
        "SourceAccount": {"Ref": "AWS::AccountId"},
        "SourceArn": {"Fn::GetAtt": [named(template, "EachMinute", RULE), "Arn"]},
    }


@pytest.mark.parametrize(("context", "kept"), [({}, 1), ({"reserveSweeper": "false"}, None)])
def test_sweeps_do_not_overlap_where_the_account_has_an_execution_to_reserve(
    context: dict[str, object], kept: int | None
) -> None:
    assert _sweeper(synthesize(**context)).get("ReservedConcurrentExecutions") == kept


def test_only_the_sweeper_has_executions_reserved(template: Template) -> None:
    reserved = [name for name, it in resources(template, FUNCTION).items() if "ReservedConcurrentExecutions" in it]
    assert reserved == [named(template, "SweeperFunction", FUNCTION)]
