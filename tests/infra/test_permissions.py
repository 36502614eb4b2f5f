from typing import Any

from tests.infra.synth import CA, ENDPOINT, Template, named, synthesize, the_one

INTERFACES = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}


def _statements(template: Template) -> list[dict[str, Any]]:
    role = the_one(template, "AWS::IAM::Role")
    return [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]


def _actions(statement: dict[str, Any]) -> set[str]:
    actions = statement["Action"]
    return {actions} if isinstance(actions, str) else set(actions)


def _allowed(template: Template) -> dict[str, str]:
    """Each allowed action with the resource it is allowed on, by logical id."""
    found: dict[str, str] = {}
    for statement in _statements(template):
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


def test_the_function_may_do_exactly_this(template: Template) -> None:
    notices, ledger = named(template, "Notices", "AWS::SQS::Queue"), named(template, "Ledger", "AWS::DynamoDB::Table")
    logs = named(template, "Logs", "AWS::Logs::LogGroup")
    assert _allowed(template) == {
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


def test_only_lambda_may_take_on_the_role_and_no_managed_policy_widens_it(template: Template) -> None:
    role = the_one(template, "AWS::IAM::Role")
    assert role["AssumeRolePolicyDocument"]["Statement"] == [
        {"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    ]
    assert "ManagedPolicyArns" not in role


def test_the_cluster_is_not_described_where_its_address_is_given() -> None:
    assert "eks:DescribeCluster" not in _allowed(synthesize(clusterEndpoint=ENDPOINT, clusterCa=CA))


def test_a_function_in_a_vpc_lets_lambda_and_nobody_else_manage_interfaces() -> None:
    template = synthesize(subnetIds="subnet-0a1b2c3d", securityGroupIds="sg-0a1b2c3d")
    assert {action for action in _allowed(template) if action.startswith("ec2:")} == {
        "ec2:DescribeInstances",
        *INTERFACES,
    }
    (denied,) = [one for one in _statements(template) if one["Effect"] == "Deny"]
    assert _actions(denied) == INTERFACES
    assert denied["Condition"] == {"Null": {"lambda:SourceFunctionArn": "false"}}


def test_a_function_outside_a_vpc_manages_no_interfaces(template: Template) -> None:
    assert not INTERFACES & set(_allowed(template))
