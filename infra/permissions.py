"""What the functions may do in AWS: each statement one sentence, nothing by a managed policy.

Law: an action is here because a function calls it, on the one resource it calls it on. What has no resource-level
permission says so. (What they may do inside the cluster is RBAC: `evac rbac`.)
"""

from typing import Final

from aws_cdk import Acknowledgment, Aws, Validations, aws_dynamodb, aws_iam, aws_logs, aws_sqs
from constructs import Construct

from infra.queues import NoticeQueues
from infra.settings import Settings

_Policies = dict[str, list[aws_iam.PolicyStatement]]


def interruption_role(
    scope: Construct,
    settings: Settings,
    *,
    queues: NoticeQueues,
    ledger: aws_dynamodb.ITable,
    logs: aws_logs.ILogGroup,
) -> aws_iam.Role:
    """The interruption function's: what every drain needs, and its queues."""
    policies = {
        "Queues": [_read_notices(queues.notices), _send_rejected(queues.rejected)],
        **_of_a_drain(settings, ledger, logs),
    }
    about = f"Drains interrupted spot nodes of the EKS cluster {settings.cluster_name}"
    return _role(scope, settings, about, policies)


def sweeper_role(
    scope: Construct, settings: Settings, *, ledger: aws_dynamodb.ITable, logs: aws_logs.ILogGroup
) -> aws_iam.Role:
    """The sweeper's: what every drain needs. It finds its work in the cluster, so no queue."""
    about = f"Finishes or undoes what interrupted drains left in the EKS cluster {settings.cluster_name}"
    return _role(scope, settings, about, _of_a_drain(settings, ledger, logs))


def _of_a_drain(settings: Settings, ledger: aws_dynamodb.ITable, logs: aws_logs.ILogGroup) -> _Policies:
    policies = {"Logs": [_write_logs(logs)], "Ledger": [_keep_ledger(ledger)], "Nodes": [_find_instances()]}
    if settings.cluster_endpoint is None:
        policies["Cluster"] = [_describe_cluster(settings.cluster_name)]
    if settings.subnet_ids:
        policies["Network"] = [_manage_interfaces(), _not_from_our_code()]
    return policies


def _role(scope: Construct, settings: Settings, description: str, policies: _Policies) -> aws_iam.Role:
    """A function's role. Its policies are inside it, so that whoever waits for the role waits for them too:
    an event source that is made before its permissions fails the deployment (aws-cdk 6770)."""
    role = aws_iam.Role(
        scope,
        "Role",
        assumed_by=aws_iam.ServicePrincipal("lambda.amazonaws.com"),
        description=description,
        inline_policies={name: aws_iam.PolicyDocument(statements=statements) for name, statements in policies.items()},
    )
    Validations.of(role).acknowledge(
        Acknowledgment(
            id="AwsSolutions-IAM5[Resource::*]",
            reason=_WHY_ANY_RESOURCE + (_WHY_ANY_INTERFACE if settings.subnet_ids else ""),
        )
    )
    return role


_WHY_ANY_RESOURCE: Final = "ec2:DescribeInstances has no resource-level permissions (service authorization reference)."
_WHY_ANY_INTERFACE: Final = (
    " Lambda itself attaches the function to its subnets by the role, and the interfaces have no names yet; "
    "a second statement denies these actions to our code."
)


def _write_logs(logs: aws_logs.ILogGroup) -> aws_iam.PolicyStatement:
    return _allow("WriteOwnLogs", ["logs:CreateLogStream", "logs:PutLogEvents"], logs.log_group_arn)


def _read_notices(notices: aws_sqs.IQueue) -> aws_iam.PolicyStatement:
    """The first three are the event source's (Lambda developer guide, SQS), the last the handler's leases."""
    actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility"]
    return _allow("ReadNotices", actions, notices.queue_arn)


def _send_rejected(rejected: aws_sqs.IQueue) -> aws_iam.PolicyStatement:
    return _allow("KeepMalformedBodies", ["sqs:SendMessage"], rejected.queue_arn)


def _keep_ledger(table: aws_dynamodb.ITable) -> aws_iam.PolicyStatement:
    """Lock, renewal and outcome are conditional updates; a refused one tells what it found."""
    return _allow("KeepLedger", ["dynamodb:UpdateItem"], table.table_arn)


def _find_instances() -> aws_iam.PolicyStatement:
    return _allow("FindInstances", ["ec2:DescribeInstances"], "*")


def _describe_cluster(name: str) -> aws_iam.PolicyStatement:
    arn = f"arn:{Aws.PARTITION}:eks:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/{name}"
    return _allow("FindCluster", ["eks:DescribeCluster"], arn)


def _manage_interfaces() -> aws_iam.PolicyStatement:
    """What Lambda does in our name to attach a function to a VPC (AWSLambdaVPCAccessExecutionRole, without logs)."""
    return _allow("AttachToVpc", [f"ec2:{action}" for action in _INTERFACE_ACTIONS], "*")


def _not_from_our_code() -> aws_iam.PolicyStatement:
    """The same, denied to calls that come from inside a function: only Lambda itself needs it.

    The key is there only in calls made with credentials of a function's environment (Lambda developer guide, VPC,
    "Best practice": lambda:SourceFunctionArn).
    """
    return aws_iam.PolicyStatement(
        sid="AttachToVpcNotFromCode",
        effect=aws_iam.Effect.DENY,
        actions=[f"ec2:{action}" for action in _INTERFACE_ACTIONS],
        resources=["*"],
        conditions={"Null": {"lambda:SourceFunctionArn": "false"}},
    )


_INTERFACE_ACTIONS: Final = (
    "CreateNetworkInterface",
    "DescribeNetworkInterfaces",
    "DescribeSubnets",
    "DeleteNetworkInterface",
    "AssignPrivateIpAddresses",
    "UnassignPrivateIpAddresses",
)


def _allow(sid: str, actions: list[str], resource: str) -> aws_iam.PolicyStatement:
    return aws_iam.PolicyStatement(sid=sid, actions=actions, resources=[resource])
