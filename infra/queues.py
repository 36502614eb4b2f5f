"""The notice queue and its two dead-letter queues: who may send, how long things are kept.

Law: every queue is encrypted by SQS itself (SSE-SQS) and takes TLS only. A queue under the AWS-managed key
alias/aws/sqs synthesizes without complaint and never receives an event (aws-cdk 30549), so no key is offered.
"""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Acknowledgment, Aws, Duration, RemovalPolicy, Validations, aws_events, aws_iam, aws_sqs
from constructs import Construct

from infra.rules import Kind, notice_rules
from lambdas import contract

NOTICE_RETENTION_SECONDS: Final = 3600
"""Long past any deadline on purpose: after an outage of the consumer what was missed is read, counted as stale and
alarmed, instead of vanishing by expiry. More would only put dead notices before live ones."""

DEAD_LETTER_RETENTION_DAYS: Final = 14
"""SQS's maximum: somebody has to look."""


class NoticeQueues(Construct):
    """Rules → `notices`; what a rule could not deliver → `undelivered`; what cannot be read → `rejected`."""

    def __init__(self, scope: Construct, construct_id: str, *, kinds: Sequence[Kind]) -> None:
        super().__init__(scope, construct_id)
        self.undelivered = _dead_letter_queue(self, "Undelivered")
        self.rejected = _dead_letter_queue(self, "Rejected")
        self.notices = _queue(
            self,
            "Notices",
            retention_period=Duration.seconds(NOTICE_RETENTION_SECONDS),
            # Lambda refuses an event source whose queue hides messages for less than the function's timeout.
            visibility_timeout=Duration.seconds(contract.FUNCTION_TIMEOUT_SECONDS),
            dead_letter_queue=aws_sqs.DeadLetterQueue(
                queue=self.rejected, max_receive_count=contract.MAX_RECEIVE_COUNT
            ),
        )
        self.rules = notice_rules(self, kinds, to=self.notices, undelivered=self.undelivered)
        for queue in (self.notices, self.undelivered):
            queue.add_to_resource_policy(_rules_may_send(queue, self.rules))
        Validations.of(self.undelivered).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SQS3",
                reason="It is a dead-letter queue: of the EventBridge rules' targets, which the check does not see.",
            )
        )


def _rules_may_send(queue: aws_sqs.IQueue, rules: Sequence[aws_events.CfnRule]) -> aws_iam.PolicyStatement:
    """EventBridge may send for these rules of this account (Amazon EventBridge user guide, resource-based policies)."""
    return aws_iam.PolicyStatement(
        sid="RulesMaySend",
        principals=[aws_iam.ServicePrincipal("events.amazonaws.com")],
        actions=["sqs:SendMessage"],
        resources=[queue.queue_arn],
        conditions={
            "ArnEquals": {"aws:SourceArn": [rule.attr_arn for rule in rules]},
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
        },
    )


def _dead_letter_queue(scope: Construct, construct_id: str) -> aws_sqs.Queue:
    return _queue(scope, construct_id, retention_period=Duration.days(DEAD_LETTER_RETENTION_DAYS))


def _queue(
    scope: Construct,
    construct_id: str,
    *,
    retention_period: Duration,
    visibility_timeout: Duration | None = None,
    dead_letter_queue: aws_sqs.DeadLetterQueue | None = None,
) -> aws_sqs.Queue:
    """A standard queue without a delivery delay: a delay is taken from the two minutes (NTH 874)."""
    return aws_sqs.Queue(
        scope,
        construct_id,
        encryption=aws_sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        removal_policy=RemovalPolicy.DESTROY,
        retention_period=retention_period,
        visibility_timeout=visibility_timeout,
        dead_letter_queue=dead_letter_queue,
    )
