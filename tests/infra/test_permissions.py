from typing import Any

import pytest

from tests.infra.synth import CA, ENDPOINT, Template, named, of_function, synthesize

ROLE = "AWS::IAM::Role"
INTERFACES = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}


functions = pytest.mark.parametrize("whose", ["Interruption", "Sweeper"])


def _statements(template: Template, whose: str) -> list[dict[str, Any]]:
    role = of_function(template, whose, ROLE)
    return [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]


def _actions(statement: dict[str, Any]) -> set[str]:
    actions = statement["Action"]
    return {actions} if isinstance(actions, str) else set(actions)


def _allowed(template: Template, whose: str) -> dict[str, str]:
    """Each allowed action with the resource it is allowed on, by logical id."""
    found: dict[str, str] = {}
    for statement in _statements(template, whose):
        if statement["Effect"] == "Allow":
            for action in _actions(statement):
                assert action not in found
                found[action] = _on(statement["Resource"])
    return found


def _on(resource: Any) -> str:
    match resource:
        case str():
            return resource
        case {"Fn::GetAtt": [str() as name, "Arn"]}:
            return name
        case {"Fn::Join": ["", parts]}:
            return "".join(part if isinstance(part, str) else f"<{part['Ref']}>" for part in parts)
    raise AssertionError(resource)


def test_the_interruption_function_may_do_exactly_this(template: Template) -> None:
    notices, ledger = named(template, "Notices", "AWS::SQS::Queue"), named(template, "Ledger", "AWS::DynamoDB::Table")
    logs = named(template, "InterruptionLogs", "AWS::Logs::LogGroup")
    assert _allowed(template, "Interruption") == {
        "logs:CreateLogStream": logs,
        "logs:PutLogEvents": logs,
        "sqs:ReceiveMessage": notices,
        "sqs:DeleteMessage": notices,
        "sqs:GetQueueAttributes": notices,
        "sqs:ChangeMessageVisibility": notices,
        "sqs:SendMessage": named(template, "Rejected", "AWS::SQS::Queue"),
        "dynamodb:UpdateItem": ledger,
        "ec2:DescribeInstances": "*",
        "eks:DescribeCluster": "arn:<AWS::Partition>:eks:<AWS::Region>:<AWS::AccountId>:cluster/demo",
    }


def test_the_sweeper_may_do_exactly_this_and_has_no_queue(template: Template) -> None:
    logs = named(template, "SweeperLogs", "AWS::Logs::LogGroup")
    assert _allowed(template, "Sweeper") == {
        "logs:CreateLogStream": logs,
        "logs:PutLogEvents": logs,
        "dynamodb:UpdateItem": named(template, "Ledger", "AWS::DynamoDB::Table"),
        "ec2:DescribeInstances": "*",
        "eks:DescribeCluster": "arn:<AWS::Partition>:eks:<AWS::Region>:<AWS::AccountId>:cluster/demo",
    }


@functions
def test_only_lambda_may_take_on_the_role_and_no_managed_policy_widens_it(template: Template, whose: str) -> None:
    role = of_function(template, whose, ROLE)
    assert role["AssumeRolePolicyDocument"]["Statement"] == [
        {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    ]
    assert "ManagedPolicyArns" not in role


@functions
def test_the_cluster_is_not_described_where_its_address_is_given(whose: str) -> None:
    assert "eks:DescribeCluster" not in _allowed(synthesize(clusterEndpoint=ENDPOINT, clusterCa=CA), whose)


@functions
def test_a_function_in_a_vpc_lets_lambda_and_nobody_else_manage_interfaces(whose: str) -> None:
    template = synthesize(subnetIds="subnet-0a1b2c3d", securityGroupIds="sg-0a1b2c3d")
    assert {action for action in _allowed(template, whose) if action.startswith("ec2:")} == {
        "ec2:DescribeInstances",
        *INTERFACES,
    }
    (denied,) = [one for one in _statements(template, whose) if one["Effect"] == "Deny"]
    assert _actions(denied) == INTERFACES
    assert denied["Condition"] == {"Null": {"lambda:SourceFunctionArn": "false"}}


@functions
def test_a_function_outside_a_vpc_manages_no_interfaces(template: Template, whose: str) -> None:
    assert not INTERFACES & set(_allowed(template, whose))
