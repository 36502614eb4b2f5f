"""The interruption function, its log group, and the event source that feeds it from the notice queue.

No SnapStart, not even as an option. A published version that was not invoked for 14 days becomes inactive and refuses
its next invocation (Lambda developer guide, SnapStart and function states): after two quiet weeks that is a notice.
It also costs some dollars a month, for the second or two that it saves of 120.

In a VPC something alike cannot be avoided: after weeks without an invocation Lambda takes back the function's network
interfaces, and the next invocation is refused while it makes new ones (Lambda developer guide, function states).
Only a message that comes now and then keeps them.
"""

from typing import Final

from aws_cdk import aws_dynamodb, aws_lambda
from constructs import Construct

from infra.environment import environment
from infra.permissions import interruption_role
from infra.queues import NoticeQueues
from infra.running import Package, Task, log_group, python_function
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
        package: Package,
    ) -> None:
        super().__init__(scope, construct_id)
        self.ledger = ledger
        self.logs = log_group(self, settings.log_retention_days)
        self.role = interruption_role(self, settings, queues=queues, ledger=ledger, logs=self.logs)
        task = Task(
            handler=contract.HANDLER_INTERRUPTION,
            description=f"Drains spot nodes of {settings.cluster_name} between their notice and their end",
            memory_size=settings.memory_size,
            role=self.role,
            logs=self.logs,
            environment=environment(settings, queues, ledger),
        )
        self.function = python_function(self, settings, package, task)
        self.event_source = self._read_from(queues, settings.max_concurrency)

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
        source.node.add_dependency(self.role)  # its policies: see interruption_role
        return source
