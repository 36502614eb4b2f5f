"""The drain ledger: who drains which node now, and what became of each drain."""

from aws_cdk import RemovalPolicy, aws_dynamodb
from constructs import Construct

from lambdas import contract


def ledger(scope: Construct) -> aws_dynamodb.Table:
    """A table that costs nothing while nothing happens.

    Paid by request; rows leave by themselves (time to live). Encrypted with DynamoDB's own key, which is free and
    needs no grant that could be missing when a notice comes. Point-in-time recovery is on: it is paid by size, and
    a few MB cost less than a cent a month. `cdk destroy` deletes the table (DynamoDB keeps a last backup of it for
    35 days): a lock outlives no drain and the history is in the logs too.
    """
    return aws_dynamodb.Table(
        scope,
        "Ledger",
        partition_key=aws_dynamodb.Attribute(name=contract.LEDGER_KEY, type=aws_dynamodb.AttributeType.STRING),
        billing_mode=aws_dynamodb.BillingMode.PAY_PER_REQUEST,
        time_to_live_attribute=contract.LEDGER_EXPIRES,
        point_in_time_recovery_specification=aws_dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        removal_policy=RemovalPolicy.DESTROY,
    )
