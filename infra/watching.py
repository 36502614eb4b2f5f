"""One thing that is watched: what the alarm says, and the metrics and commands that alarms are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Aws, Duration, aws_cloudwatch, aws_sqs

REGION: Final = f"--region {Aws.REGION}"


@dataclass(frozen=True, slots=True)
class Watch:
    """An alarm to be. It rings once `metric` was 1 or more in a minute; with `expects_life`, once it was not.

    A `state` (a queue holds something) ends by itself, and the alarm says so. A count (an error, a refusal) does not:
    a minute without notices would read as "mended".
    """

    name: str
    metric: aws_cloudwatch.IMetric
    says: str
    state: bool = False
    expects_life: bool = False


def read(queue: aws_sqs.IQueue) -> str:
    """The command that reads what waits in a queue."""
    return (
        "aws sqs receive-message --message-attribute-names All --max-number-of-messages 10 "
        f"--queue-url {queue.queue_url} {REGION}"
    )


def count(namespace: str, name: str, dimensions: Mapping[str, str]) -> aws_cloudwatch.Metric:
    """How often in a minute."""
    return aws_cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dict(dimensions),
        statistic="Sum",
        period=Duration.minutes(1),
    )


def waiting(queue: aws_sqs.IQueue) -> aws_cloudwatch.Metric:
    """How many messages wait in a queue."""
    return queue.metric_approximate_number_of_messages_visible(statistic="Maximum", period=Duration.minutes(1))
