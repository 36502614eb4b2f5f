"""The sweeper function, its log group, and the schedule that runs it each minute.

It finishes or undoes what an invocation that died has left in the cluster. The next minute is its retry: nothing else
tries a sweep again, since a late one only stands in the way of the next.
"""

from typing import Final

from aws_cdk import Aws, Duration, aws_dynamodb, aws_events, aws_lambda
from constructs import Construct

from infra.environment import environment
from infra.permissions import sweeper_role
from infra.queues import NoticeQueues
from infra.running import Package, Task, log_group, python_function
from infra.settings import Settings
from lambdas import contract

MEMORY_SIZE: Final = 512
"""A look each minute is cheap at that, and a drain of 250 pods that it has to finish fits into it twice."""

EVERY: Final = "rate(1 minute)"

EVENT_AGE_SECONDS: Final = 60
"""By then the next sweep is there; the least that EventBridge and Lambda take."""

ONE_AT_A_TIME: Final = 1


class Sweeper(Construct):
    """Runs each minute, never two at once, on the cluster and the `ledger` that the interruption function works on."""

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
        self.logs = log_group(self, settings.log_retention_days)
        self.role = sweeper_role(self, settings, ledger=ledger, logs=self.logs)
        task = Task(
            handler=contract.HANDLER_SWEEPER,
            description=f"Finishes or undoes what interrupted drains left in {settings.cluster_name}",
            memory_size=MEMORY_SIZE,
            role=self.role,
            logs=self.logs,
            environment=environment(settings, queues, ledger),
            reserved=ONE_AT_A_TIME if settings.reserve_sweeper else None,
        )
        self.function = python_function(self, settings, package, task)
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=Duration.seconds(EVENT_AGE_SECONDS))
        self.rule = _each_minute(self, self.function)


def _each_minute(scope: Construct, function: aws_lambda.IFunction) -> aws_events.CfnRule:
    """While a sweep goes on, those of the next minutes are throttled and dropped."""
    target = aws_events.CfnRule.TargetProperty(
        id="Sweeper",
        arn=function.function_arn,
        retry_policy=aws_events.CfnRule.RetryPolicyProperty(
            maximum_event_age_in_seconds=EVENT_AGE_SECONDS, maximum_retry_attempts=0
        ),
    )
    rule = aws_events.CfnRule(
        scope,
        "EachMinute",
        description="Looks each minute for what interrupted drains left behind",
        schedule_expression=EVERY,
        state="ENABLED",
        targets=[target],
    )
    aws_lambda.CfnPermission(
        scope,
        "EachMinuteMayInvoke",
        action="lambda:InvokeFunction",
        function_name=function.function_arn,
        principal="events.amazonaws.com",
        source_account=Aws.ACCOUNT_ID,
        source_arn=rule.attr_arn,
    )
    return rule
