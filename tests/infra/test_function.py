import pytest

from infra.layer import PYTHON_VERSION
from lambdas import contract
from lambdas.handlers.settings import read_deployment
from tests.infra.synth import CA, ENDPOINT, Template, named, of_function, resources, synthesize, the_one


def _function(template: Template) -> dict[str, object]:
    function: dict[str, object] = of_function(template, "Interruption", "AWS::Lambda::Function")
    return function


def _environment(template: Template, whose: str = "Interruption") -> dict[str, object]:
    variables: dict[str, object] = of_function(template, whose, "AWS::Lambda::Function")["Environment"]["Variables"]
    return variables


def test_the_function_runs_what_the_layer_was_built_for(template: Template) -> None:
    function, layer = _function(template), the_one(template, "AWS::Lambda::LayerVersion")
    assert function["Runtime"] == f"python{PYTHON_VERSION}"
    assert function["Architectures"] == ["arm64"]
    assert layer["CompatibleRuntimes"] == [function["Runtime"]]
    assert layer["CompatibleArchitectures"] == function["Architectures"]
    assert function["Layers"] == [{"Ref": named(template, "Dependencies", "AWS::Lambda::LayerVersion")}]


def test_handler_and_time_out_are_the_contracts(template: Template) -> None:
    assert _function(template)["Handler"] == contract.HANDLER_INTERRUPTION
    assert _function(template)["Timeout"] == contract.FUNCTION_TIMEOUT_SECONDS


def test_a_default_function_has_a_whole_processor(template: Template) -> None:
    assert _function(template)["MemorySize"] == 1769


def test_a_quiet_fortnight_does_not_put_the_function_to_sleep(template: Template) -> None:
    assert "SnapStart" not in _function(template)
    assert not resources(template, "AWS::Lambda::Version")


def test_the_environment_names_what_the_stack_made(template: Template) -> None:
    assert _environment(template) == {
        contract.ENV_CLUSTER_NAME: "demo",
        contract.ENV_LEDGER_TABLE: {"Ref": named(template, "Ledger", "AWS::DynamoDB::Table")},
        contract.ENV_QUEUE_URL: {"Ref": named(template, "Notices", "AWS::SQS::Queue")},
        contract.ENV_MALFORMED_QUEUE_URL: {"Ref": named(template, "Rejected", "AWS::SQS::Queue")},
        contract.ENV_DRY_RUN: "false",
    }


@pytest.mark.parametrize(
    ("context", "variable", "value"),
    [
        ({"dryRun": "true"}, contract.ENV_DRY_RUN, "true"),
        ({"marginSeconds": 8}, contract.ENV_MARGIN_SECONDS, "8"),
        ({"marginSeconds": 0}, contract.ENV_MARGIN_SECONDS, "0"),
        ({"graceCountedSeconds": "45"}, contract.ENV_GRACE_COUNTED_SECONDS, "45"),
        ({"budgets": "never"}, contract.ENV_BUDGETS, "never"),
        ({"release": "within"}, contract.ENV_RELEASE, "within"),
        ({"releaseUnchecked": True}, contract.ENV_RELEASE_UNCHECKED, "true"),
        ({"clusterEndpoint": ENDPOINT, "clusterCa": CA}, contract.ENV_CLUSTER_ENDPOINT, ENDPOINT),
        ({"clusterEndpoint": ENDPOINT, "clusterCa": CA}, contract.ENV_CLUSTER_CA, CA),
    ],
)
def test_a_setting_that_is_given_reaches_the_function(context: dict[str, object], variable: str, value: str) -> None:
    assert _environment(synthesize(**context))[variable] == value


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"clusterEndpoint": ENDPOINT, "clusterCa": CA, "marginSeconds": 30, "graceCountedSeconds": 85},
        {
            "dryRun": True,
            "budgets": "never",
            "release": "off",
            "releaseUnchecked": "true",
            "marginSeconds": 0,
            "graceCountedSeconds": 0,
        },
    ],
)
def test_the_function_accepts_whatever_the_stack_gives_it(context: dict[str, object]) -> None:
    """References are filled in as URLs: two of the three are."""
    variables = _environment(synthesize(**context))
    deployment = read_deployment(
        {name: value if isinstance(value, str) else "https://sqs.example.com/1/q" for name, value in variables.items()}
    )
    assert deployment.cluster_name == "demo"
    assert deployment.is_dry_run is context.get("dryRun", False)
    assert deployment.drain.budgets.value == context.get("budgets", "pace")
    assert deployment.drain.release.value == context.get("release", "enough")
    assert deployment.drain.releases_unchecked is ("releaseUnchecked" in context)


def test_batches_are_small_immediate_and_partly_acknowledged(template: Template) -> None:
    source = the_one(template, "AWS::Lambda::EventSourceMapping")
    assert source == {
        "FunctionName": {"Ref": named(template, "InterruptionFunction", "AWS::Lambda::Function")},
        "EventSourceArn": {"Fn::GetAtt": [named(template, "Notices", "AWS::SQS::Queue"), "Arn"]},
        "BatchSize": 10,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "MetricsConfig": {"Metrics": ["EventCount"]},
        "ScalingConfig": {"MaximumConcurrency": 100},
    }


def test_the_event_source_waits_for_its_permissions(template: Template) -> None:
    role = named(template, "InterruptionRole", "AWS::IAM::Role")
    source = named(template, "Notices", "AWS::Lambda::EventSourceMapping")
    assert role in template["Resources"][source]["DependsOn"]
    assert not resources(template, "AWS::IAM::Policy"), "policies inside the role cannot come later than the role"


def test_logs_go_to_a_group_of_their_own_that_ends_some_day(template: Template) -> None:
    group = named(template, "InterruptionLogs", "AWS::Logs::LogGroup")
    assert _function(template)["LoggingConfig"] == {"LogGroup": {"Ref": group}}
    for days, made in ((30, template), (1096, synthesize(logRetentionDays="1096"))):
        assert [it["RetentionInDays"] for it in resources(made, "AWS::Logs::LogGroup").values()] == [days, days]


def test_the_function_is_in_a_vpc_only_when_asked(template: Template) -> None:
    assert "VpcConfig" not in _function(template)
    inside = synthesize(subnetIds="subnet-0a1b2c3d", securityGroupIds="sg-0a1b2c3d,sg-0f9e8d7c")
    assert _function(inside)["VpcConfig"] == {
        "SubnetIds": ["subnet-0a1b2c3d"],
        "SecurityGroupIds": ["sg-0a1b2c3d", "sg-0f9e8d7c"],
    }


def test_the_ledger_costs_nothing_at_rest_and_forgets_by_itself(template: Template) -> None:
    assert the_one(template, "AWS::DynamoDB::Table") == {
        "KeySchema": [{"AttributeName": contract.LEDGER_KEY, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": contract.LEDGER_KEY, "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "TimeToLiveSpecification": {"AttributeName": contract.LEDGER_EXPIRES, "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    }
