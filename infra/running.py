"""What every function of the stack is alike in: runtime, layer, log group, network."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration, RemovalPolicy, aws_iam, aws_lambda, aws_logs
from constructs import Construct

from infra.settings import Settings
from lambdas import contract

RUNTIME: Final = aws_lambda.Runtime.PYTHON_3_14
ARCHITECTURE: Final = aws_lambda.Architecture.ARM_64


@dataclass(frozen=True, slots=True)
class Package:
    """What every function runs: our code, and what it depends on."""

    code: aws_lambda.Code
    layer: aws_lambda.ILayerVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one function is for, and what it has. `reserved`: executions kept for it, and no more than these."""

    handler: str
    description: str
    memory_size: int
    role: aws_iam.IRole
    logs: aws_logs.ILogGroup
    environment: dict[str, str]
    reserved: int | None = None


def dependencies_layer(scope: Construct, dependencies: aws_lambda.Code) -> aws_lambda.LayerVersion:
    """The layer of dependencies, one for all functions."""
    return aws_lambda.LayerVersion(
        scope,
        "Dependencies",
        code=dependencies,
        description="Packages of requirements/lambda.txt",
        compatible_runtimes=[RUNTIME],
        compatible_architectures=[ARCHITECTURE],
        removal_policy=RemovalPolicy.DESTROY,
    )


def log_group(scope: Construct, retention_days: int) -> aws_logs.LogGroup:
    """Explicit, so that logs end some day and `cdk destroy` leaves none. By the L1's number: the L2's enumeration
    knows fewer values than CloudWatch."""
    group = aws_logs.LogGroup(scope, "Logs", removal_policy=RemovalPolicy.DESTROY)
    resource = group.node.default_child
    assert isinstance(resource, aws_logs.CfnLogGroup)  # noqa: S101 - narrows a type
    resource.retention_in_days = retention_days
    return group


def python_function(scope: Construct, settings: Settings, package: Package, task: Task) -> aws_lambda.Function:
    """The function that runs `task`, in the subnets of `settings` if there are any."""
    function = aws_lambda.Function(
        scope,
        "Function",
        description=task.description,
        runtime=RUNTIME,
        architecture=ARCHITECTURE,
        handler=task.handler,
        code=package.code,
        layers=[package.layer],
        timeout=Duration.seconds(contract.FUNCTION_TIMEOUT_SECONDS),
        memory_size=task.memory_size,
        role=task.role,
        log_group=task.logs,
        environment=task.environment,
        reserved_concurrent_executions=task.reserved,
    )
    _finish(function, settings)
    return function


def _finish(function: aws_lambda.Function, settings: Settings) -> None:
    """What only the L1 can do. The role is depended on by reference already (cfn-lint W3005); and for subnets the
    L2 wants their VPC, which CloudFormation does not."""
    resource = function.node.default_child
    assert isinstance(resource, aws_lambda.CfnFunction)  # noqa: S101 - narrows a type
    resource.add_deletion_override("DependsOn")
    if settings.subnet_ids:
        resource.vpc_config = aws_lambda.CfnFunction.VpcConfigProperty(
            subnet_ids=list(settings.subnet_ids), security_group_ids=list(settings.security_group_ids)
        )
