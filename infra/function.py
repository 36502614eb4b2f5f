"""The interruption function, its log group, and the event source that feeds it from the notice queue.

No SnapStart, not even as an option. A published version that was not invoked for 14 days becomes inactive and refuses
its next invocation (Lambda developer guide, SnapStart and function states): after two quiet weeks that is a notice.
It also costs some dollars a month, for the second or two that it saves of 120.

In a VPC something alike cannot be avoided: after weeks without an invocation Lambda takes back the function's network
interfaces, and the next invocation is refused while it makes new ones (Lambda developer guide, function states).
Only a message that comes now and then keeps them.
"""

from typing import Final

from aws_cdk import Duration, RemovalPolicy, aws_dynamodb, aws_lambda, aws_logs
from constructs import Construct

from infra.permissions import Resources, function_role
from infra.queues import NoticeQueues
from infra.settings import Settings
from lambdas import contract

BATCH_SIZE: Final = 10
"""The most that a standard queue gives without a batching window, which would be taken from the two minutes."""


class InterruptionFunction(Construct):
    """Reads the notice queue of `queues`, keeps `ledger`, drains the cluster of `settings`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        queues: NoticeQueues,
        ledger: aws_dynamodb.ITable,
        code: aws_lambda.Code,
        dependencies: aws_lambda.Code,
    ) -> None:
        super().__init__(scope, construct_id)
        self.ledger = ledger
        self.logs = _log_group(self, settings.log_retention_days)
        self.role = function_role(self, settings, Resources(queues=queues, ledger=ledger, logs=self.logs))
        self.function = aws_lambda.Function(
            self,
            "Function",
            description=f"Drains spot nodes of {settings.cluster_name} between their notice and their end",
            runtime=aws_lambda.Runtime.PYTHON_3_14,
            architecture=aws_lambda.Architecture.ARM_64,
            handler=contract.HANDLER_INTERRUPTION,
            code=code,
            layers=[_layer(self, dependencies)],
            timeout=Duration.seconds(contract.FUNCTION_TIMEOUT_SECONDS),
            memory_size=settings.memory_size,
            role=self.role,
            log_group=self.logs,
            environment=environment(settings, queues, ledger),
        )
        self._finish(settings)
        self.event_source = self._read_from(queues, settings.max_concurrency)

    def _finish(self, settings: Settings) -> None:
        """What only the L1 can do. The role is depended on by reference already (cfn-lint W3005); and for subnets the
        L2 wants their VPC, which CloudFormation does not."""
        resource = self.function.node.default_child
        assert isinstance(resource, aws_lambda.CfnFunction)  # noqa: S101 - narrows a type
        resource.add_deletion_override("DependsOn")
        if settings.subnet_ids:
            resource.vpc_config = aws_lambda.CfnFunction.VpcConfigProperty(
                subnet_ids=list(settings.subnet_ids), security_group_ids=list(settings.security_group_ids)
            )

    def _read_from(self, queues: NoticeQueues, max_concurrency: int) -> aws_lambda.EventSourceMapping:
        """The event source. With a maximum concurrency Lambda keeps its five pollers even when all is quiet, where
        it would otherwise go down to two (Lambda developer guide, SQS scaling)."""
        source = aws_lambda.EventSourceMapping(
            self,
            "Notices",
            target=self.function,
            event_source_arn=queues.notices.queue_arn,
            batch_size=BATCH_SIZE,
            report_batch_item_failures=True,
            max_concurrency=max_concurrency,
            metrics_config=aws_lambda.MetricsConfig(metrics=[aws_lambda.MetricType.EVENT_COUNT]),
        )
        source.node.add_dependency(self.role)  # its policies: see function_role
        return source


def environment(settings: Settings, queues: NoticeQueues, ledger: aws_dynamodb.ITable) -> dict[str, str]:
    """The function's environment. A setting that was not given is left to the function's own default."""
    given: dict[str, str | int | bool | None] = {
        contract.ENV_CLUSTER_NAME: settings.cluster_name,
        contract.ENV_CLUSTER_ENDPOINT: settings.cluster_endpoint,
        contract.ENV_CLUSTER_CA: settings.cluster_ca,
        contract.ENV_LEDGER_TABLE: ledger.table_name,
        contract.ENV_QUEUE_URL: queues.notices.queue_url,
        contract.ENV_MALFORMED_QUEUE_URL: queues.rejected.queue_url,
        contract.ENV_MARGIN_SECONDS: settings.margin_seconds,
        contract.ENV_GRACE_COUNTED_SECONDS: settings.grace_counted_seconds,
        contract.ENV_DELETE_AT_LAST_SAFE_MOMENT: settings.delete_at_last_safe_moment,
        contract.ENV_PACE_BUDGETS: settings.pace_budgets,
        contract.ENV_DRY_RUN: settings.dry_run,
    }
    return {name: _as_text(value) for name, value in given.items() if value is not None}


def _as_text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _log_group(scope: Construct, retention_days: int) -> aws_logs.LogGroup:
    """Explicit, so that logs end some day and `cdk destroy` leaves none. By the L1's number: the L2's enumeration
    knows fewer values than CloudWatch."""
    group = aws_logs.LogGroup(scope, "Logs", removal_policy=RemovalPolicy.DESTROY)
    resource = group.node.default_child
    assert isinstance(resource, aws_logs.CfnLogGroup)  # noqa: S101 - narrows a type
    resource.retention_in_days = retention_days
    return group


def _layer(scope: Construct, dependencies: aws_lambda.Code) -> aws_lambda.LayerVersion:
    return aws_lambda.LayerVersion(
        scope,
        "Dependencies",
        code=dependencies,
        description="Packages of requirements/lambda.txt",
        compatible_runtimes=[aws_lambda.Runtime.PYTHON_3_14],
        compatible_architectures=[aws_lambda.Architecture.ARM_64],
        removal_policy=RemovalPolicy.DESTROY,
    )
