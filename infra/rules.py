"""Which events reach the function: one EventBridge rule for each row of a table.

Law: a rule lists only what the function acts on. A new kind of event is one more row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aws_cdk import aws_events, aws_sqs
from constructs import Construct

from lambdas import contract


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: the events that one rule takes. `name` is part of the rule's name in the account."""

    name: str
    source: str
    detail_types: tuple[str, ...]
    about: str

    @property
    def pattern(self) -> dict[str, list[str]]:
        """The rule's event pattern. Never by `resources`: its form varies (Amazon EC2 events reference)."""
        return {"source": [self.source], "detail-type": list(self.detail_types)}


NOTICES: Final = (
    Kind(
        name="SpotInterruption",
        source=contract.SOURCE_EC2,
        detail_types=(contract.DETAIL_SPOT_INTERRUPTION,),
        about="Spot interruption notices: two minutes until the instance is taken",
    ),
)

EVENT_AGE_SECONDS: Final = 120
"""A notice that EventBridge could not deliver before its deadline is worthless: it goes to the dead-letter queue."""

RETRIES: Final = 185
"""EventBridge's own maximum, so that the event's age alone ends the retries."""


def notice_rules(
    scope: Construct, kinds: Sequence[Kind], *, to: aws_sqs.IQueue, undelivered: aws_sqs.IQueue
) -> list[aws_events.CfnRule]:
    """A rule on the default bus for each kind, delivering to `to` and, failing that, to `undelivered`.

    L1 on purpose: the target's policies are written by hand (`infra.queues`), where the L2 target would add
    statements of its own without the account.
    """
    target = aws_events.CfnRule.TargetProperty(
        id="Queue",
        arn=to.queue_arn,
        dead_letter_config=aws_events.CfnRule.DeadLetterConfigProperty(arn=undelivered.queue_arn),
        retry_policy=aws_events.CfnRule.RetryPolicyProperty(
            maximum_event_age_in_seconds=EVENT_AGE_SECONDS, maximum_retry_attempts=RETRIES
        ),
    )
    return [
        aws_events.CfnRule(
            scope, kind.name, description=kind.about, event_pattern=kind.pattern, state="ENABLED", targets=[target]
        )
        for kind in kinds
    ]
