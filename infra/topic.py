"""Where alarms go: a topic that was given, or one that CloudWatch can really publish to."""

from aws_cdk import Aws, aws_iam, aws_sns, aws_sns_subscriptions
from constructs import Construct

from infra.settings import Settings


def alarm_topic(scope: Construct, settings: Settings) -> aws_sns.ITopic:
    """The topic of `alarmTopicArn`, untouched, or a new one, with `alarmEmail` subscribed."""
    if settings.alarm_topic_arn is not None:
        return aws_sns.Topic.from_topic_arn(scope, "GivenTopic", settings.alarm_topic_arn)
    topic = aws_sns.Topic(scope, "Topic", display_name="evac", enforce_ssl=True)
    topic.add_to_resource_policy(_alarms_may_publish(topic))
    if settings.alarm_email is not None:
        topic.add_subscription(aws_sns_subscriptions.EmailSubscription(settings.alarm_email))
    return topic


def _alarms_may_publish(topic: aws_sns.ITopic) -> aws_iam.PolicyStatement:
    """CloudWatch may publish for alarms of this account (CloudWatch user guide, SNS access policy)."""
    return aws_iam.PolicyStatement(
        sid="AlarmsMayPublish",
        principals=[aws_iam.ServicePrincipal("cloudwatch.amazonaws.com")],
        actions=["sns:Publish"],
        resources=[topic.topic_arn],
        conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
    )
