"""Turns what is watched into CloudWatch alarms that publish to one topic."""

from collections.abc import Iterable
from typing import Final

from aws_cdk import aws_cloudwatch, aws_cloudwatch_actions, aws_sns
from constructs import Construct

from infra.watching import Watch

HEARTBEAT_MINUTES: Final = 6
HEARTBEAT_SILENT: Final = 5
"""Five silent minutes of six: SQS's newest minute may not have arrived yet, and one receive by a curious person is
no consumer. A queue that has just been made sends no metrics for up to 15 minutes (SQS developer guide, CloudWatch),
so a first deployment may ring once and then say that all is well: a free proof that the alarm's own path works."""


class Alarms(Construct):
    """One alarm for each watch, publishing to `topic`."""

    def __init__(self, scope: Construct, construct_id: str, *, watches: Iterable[Watch], topic: aws_sns.ITopic) -> None:
        super().__init__(scope, construct_id)
        action = aws_cloudwatch_actions.SnsAction(topic)
        for watch in watches:
            alarm = _heartbeat(self, watch) if watch.expects_life else _counter(self, watch)
            alarm.add_alarm_action(action)
            if watch.state:
                alarm.add_ok_action(action)


def _counter(scope: Construct, watch: Watch) -> aws_cloudwatch.Alarm:
    """These metrics are sent only when there is something to count: nothing is good."""
    return aws_cloudwatch.Alarm(
        scope,
        watch.name,
        alarm_description=watch.says,
        metric=watch.metric,
        comparison_operator=aws_cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        threshold=1,
        evaluation_periods=1,
        treat_missing_data=aws_cloudwatch.TreatMissingData.NOT_BREACHING,
    )


def _heartbeat(scope: Construct, watch: Watch) -> aws_cloudwatch.Alarm:
    """Nothing is bad: a queue that nobody polls stops sending metrics altogether, and a sweep that does not happen
    counts nothing. (One that finishes a drain lasts up to three minutes: five are silent only if none goes through.)"""
    return aws_cloudwatch.Alarm(
        scope,
        watch.name,
        alarm_description=watch.says,
        metric=watch.metric,
        comparison_operator=aws_cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold=1,
        evaluation_periods=HEARTBEAT_MINUTES,
        datapoints_to_alarm=HEARTBEAT_SILENT,
        treat_missing_data=aws_cloudwatch.TreatMissingData.BREACHING,
    )
