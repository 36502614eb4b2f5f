"""What is watched: one alarm for every way the path event → rule → queue → function → API server stops in silence.

Law: each says what is broken, what that means for nodes, and the first command to type, with real names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration, aws_cloudwatch, aws_events

from infra.function import InterruptionFunction
from infra.queues import NoticeQueues
from infra.sweeper import Sweeper
from infra.watching import REGION, Watch, count, read, waiting
from lambdas import contract


@dataclass(frozen=True, slots=True)
class Watched:
    """What the alarms look at."""

    cluster_name: str
    queues: NoticeQueues
    interruption: InterruptionFunction
    sweeper: Sweeper


def watches(watched: Watched) -> Iterator[Watch]:
    """Every alarm of a stack, in the order of the path."""
    for rule in watched.queues.rules:
        yield from _of_rule(watched, rule)
    yield from _of_dead_letters(watched)
    yield _of_heartbeat(watched)
    yield from _of_function(watched)
    yield from _of_our_own(watched)
    yield from _of_sweeps(watched)


def _of_rule(watched: Watched, rule: aws_events.CfnRule) -> Iterator[Watch]:
    """On the default bus these metrics have the one dimension RuleName (EventBridge user guide, monitoring)."""
    dimensions = {"RuleName": rule.ref}
    yield Watch(
        name=f"{rule.node.id}FailedInvocations",
        metric=count("AWS/Events", "FailedInvocations", dimensions),
        says=f"EventBridge cannot put events into the notice queue (its policy, or the queue itself). "
        f"{_undrained(watched)} The attributes ERROR_CODE and ERROR_MESSAGE tell why: "
        f"{read(watched.queues.undelivered)}",
    )
    yield Watch(
        name=f"{rule.node.id}FailedDeadLetters",
        metric=count("AWS/Events", "InvocationsFailedToBeSentToDlq", dimensions),
        says=f"EventBridge can put events neither into the notice queue nor into the rule's dead-letter queue: they "
        f"are lost without a trace. {_undrained(watched)} Look at the dead-letter queue's policy: "
        f"aws sqs get-queue-attributes --attribute-names All --queue-url {watched.queues.undelivered.queue_url} "
        f"{REGION}",
    )


def _of_dead_letters(watched: Watched) -> Iterator[Watch]:
    queues = watched.queues
    yield Watch(
        name="UndeliveredNotEmpty",
        metric=waiting(queues.undelivered),
        says=f"EventBridge could not deliver events within their two minutes and kept them aside. The nodes they "
        f"are about were not drained. The attributes ERROR_CODE and ERROR_MESSAGE tell why: "
        f"{read(queues.undelivered)}",
        state=True,
    )
    yield Watch(
        name="RejectedNotEmpty",
        metric=waiting(queues.rejected),
        says=f"Messages were set aside: bodies that nobody can read (the attribute tells the reason), or notices "
        f"received {contract.MAX_RECEIVE_COUNT} times without an end. The nodes of such notices may not have been "
        f"drained. Read them: {read(queues.rejected)}",
        state=True,
    )


def _of_heartbeat(watched: Watched) -> Watch:
    """Each poll of a queue is either empty or not: their sum is above 0 each minute exactly while something polls."""
    dimensions = {"QueueName": watched.queues.notices.queue_name}
    source = watched.interruption.event_source
    return Watch(
        name="NobodyPolls",
        metric=aws_cloudwatch.MathExpression(
            expression="FILL(empty, 0) + FILL(received, 0)",
            label="Polls of the notice queue",
            period=Duration.minutes(1),
            using_metrics={
                "empty": count("AWS/SQS", "NumberOfEmptyReceives", dimensions),
                "received": count("AWS/SQS", "NumberOfMessagesReceived", dimensions),
            },
        ),
        says=f"Nobody reads the notice queue: the event source is disabled, gone, or lacks a permission. "
        f"{_undrained(watched)} (Right after the first deployment: SQS sends no metrics yet, this ends by itself "
        f"within 15 minutes.) Its State and StateTransitionReason tell why: aws lambda get-event-source-mapping "
        f"--uuid {source.event_source_mapping_id} {REGION}",
        state=True,
        expects_life=True,
    )


def _of_function(watched: Watched) -> Iterator[Watch]:
    dimensions = {"FunctionName": watched.interruption.function.function_name}
    yield Watch(
        name="FunctionErrors",
        metric=count("AWS/Lambda", "Errors", dimensions),
        says=f"The function crashed or ran out of time or memory. A drain may have stopped half-way; another "
        f"invocation goes on with it as long as there is time. Read: {_logs(watched)}",
    )
    yield Watch(
        name="FunctionThrottles",
        metric=count("AWS/Lambda", "Throttles", dimensions),
        says=f"Lambda refuses to run the function: the account's concurrency is used up. Notices wait, and nodes are "
        f"taken undrained. See what is left of it: aws lambda get-account-settings --query AccountLimit {REGION}",
    )


def _of_our_own(watched: Watched) -> Iterator[Watch]:
    """Of what the function counts itself: the faults that an operator can mend."""
    dimensions = contract.metric_dimensions(watched.cluster_name)
    for metric, says in _faults(watched).items():
        yield Watch(name=metric, metric=count(contract.METRICS_NAMESPACE, metric, dimensions), says=says)


def _faults(watched: Watched) -> Mapping[str, str]:
    cluster = watched.cluster_name
    role = watched.interruption.role.role_arn
    ledger = watched.interruption.ledger.table_name
    return {
        contract.METRIC_CLUSTER_UNAUTHENTICATED: f"401: the API server of {cluster} does not know the function's role, "
        f"or the sweeper's (access entry, or aws-auth). {_undrained(watched)} aws eks describe-access-entry "
        f"--cluster-name {cluster} --principal-arn {role} {REGION}",
        contract.METRIC_CLUSTER_FORBIDDEN: f"403: the API server of {cluster} knows the role and refuses what it "
        f"asks (RBAC, or an admission policy; the log names verb and resource). Nodes are drained in part or "
        f"not at all. evac rbac | kubectl apply -f -",
        contract.METRIC_GIVEN_BACK: f"Notices were handed back: a step failed until the invocation gave up (API server "
        f"unreachable, EC2 failing). They are tried again while there is time; then nodes are taken undrained. A "
        f"connection that times out points at VPC, subnets and security groups. Read: {_logs(watched)}",
        contract.METRIC_PODS_LOST: f"A node was taken with pods still on it: their shutdown did not fit, or nothing "
        f"let them go in time (the record in the log names each, and the budget that held it). Read: {_logs(watched)}",
        contract.METRIC_LEDGER_FAILED: f"The ledger cannot be read or written. Nodes are drained all the same, perhaps "
        f"by two invocations at once, and the history has a gap. aws dynamodb describe-table --table-name {ledger} "
        f"{REGION}",
        contract.METRIC_MALFORMED: f"Messages came that nobody can read; they were set aside with the reason as an "
        f"attribute. If they were notices, their nodes are not drained. Read them: {read(watched.queues.rejected)}",
    }


def _of_sweeps(watched: Watched) -> Iterator[Watch]:
    """A sweep counts itself at its end, so that a missing count tells of every way it can fail to happen."""
    of_function = {"FunctionName": watched.sweeper.function.function_name}
    ours = contract.metric_dimensions(watched.cluster_name)
    logs = f"aws logs tail {watched.sweeper.logs.log_group_name} --since 15m {REGION}"
    yield Watch(
        name="SweeperErrors",
        metric=count("AWS/Lambda", "Errors", of_function),
        says=f"The sweeper crashed or ran out of time or memory. It is tried again each minute; until it goes through, "
        f"{_UNSWEPT} Read: {logs}",
    )
    yield Watch(
        name="NoSweeps",
        metric=count(contract.METRICS_NAMESPACE, contract.METRIC_SWEEPS, ours),
        says=f"No sweep has gone through for minutes: its schedule is disabled, Lambda does not run it, or each one "
        f"fails. Until it is mended, {_UNSWEPT} (Right after the first deployment: no sweep yet, this ends by itself "
        f"within minutes.) Look at its rule: aws events describe-rule --name {watched.sweeper.rule.ref} {REGION}",
        state=True,
        expects_life=True,
    )
    yield Watch(
        name=contract.METRIC_SWEEP_FAILED,
        metric=count(contract.METRICS_NAMESPACE, contract.METRIC_SWEEP_FAILED, ours),
        says=f"A sweep could not look, or could not finish or undo what it found (the log names each node and pod). "
        f"It is tried again each minute; meanwhile {_UNSWEPT} By hand: evac undo --all --dry-run. Read: {logs}",
    )


# --- words that several of them use ---------------------------------------------------------------------------


_UNSWEPT: Final = (
    "what a broken-off drain left on nodes stays as it is: cordons, and pods released from their ReplicaSets."
)


def _undrained(watched: Watched) -> str:
    return f"Until it is mended, interrupted spot nodes of {watched.cluster_name} are taken undrained."


def _logs(watched: Watched) -> str:
    return f"aws logs tail {watched.interruption.logs.log_group_name} --since 15m {REGION}"
