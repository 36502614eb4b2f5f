"""The interruption function: a batch of queue messages in, nodes drained, and each message's own fate out.

Law: no exception escapes for one record, no message is lost, and what is given back is seen again within seconds. The
messages are taken by a short visibility first of all, so that the death of this process is noticed soon.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools import Logger

from lambdas import contract
from lambdas.application.ports import MessageLease
from lambdas.domain.errors import PortError
from lambdas.handlers.batch import partial_response, read_batch
from lambdas.handlers.composition import Composition, compose
from lambdas.handlers.drains import Context, Drains
from lambdas.handlers.metrics import Tally
from lambdas.handlers.triage import Triage, Unreadable, triage

_VISIBILITY: Final = timedelta(seconds=contract.MESSAGE_VISIBILITY_SECONDS)
_GIVEN_BACK_VISIBILITY: Final = timedelta(seconds=contract.GIVEN_BACK_VISIBILITY_SECONDS)

_logger = Logger(service=contract.SERVICE)


@_logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Lambda's entry point: an SQS batch event, answered with a partial batch response."""
    return respond(event, context, compose(os.environ), _logger)


def respond(event: Mapping[str, Any], context: Context, composition: Composition, logger: Logger) -> dict[str, Any]:
    """Work on the batch in the world that `composition` makes. Raises NoBatch where there is none to work on."""
    logger.append_keys(cluster=composition.deployment.cluster_name, dry_run=composition.deployment.is_dry_run)
    received = read_batch(event)
    lease = composition.lease({message.message_id: message.receipt_handle for message in received})
    tally = Tally(composition.deployment.cluster_name)
    # Beside all else, on threads of its own: nothing that a drain does waits for the queue.
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="evac-queue") as aside:
        holding = aside.submit(lease.hold, [message.message_id for message in received], _VISIBILITY)
        heaps = triage(received)
        _say_what_is_unneeded(heaps, tally, logger)
        keeping = {u.message.message_id: _keep(u, composition, tally, logger, aside) for u in heaps.unreadable}
        given_back = Drains(composition, context, lease, tally, logger).run(heaps.requests, also_hold=list(keeping))
        given_back += [message_id for message_id, kept in keeping.items() if _has_failed(kept, logger)]
        _has_failed(holding, logger)
    _give_back(lease, given_back, composition, logger)
    if not composition.deployment.is_dry_run:  # there giving back is the rule, and nobody is to be woken for it
        tally.count(contract.METRIC_GIVEN_BACK, len(given_back))
    tally.flush()
    return partial_response(event, given_back)


def _say_what_is_unneeded(heaps: Triage, tally: Tally, logger: Logger) -> None:
    for it in heaps.unneeded:
        logger.info(f"ignored: {it.kind}", extra={"message_id": it.message.message_id, "reason": it.reason})
    tally.count(contract.METRIC_IGNORED, len(heaps.unneeded))


def _keep(
    it: Unreadable, composition: Composition, tally: Tally, logger: Logger, aside: ThreadPoolExecutor
) -> "Future[None]":
    """Into the dead-letter queue with it. The body stays out of the log: nobody knows what is in there."""
    tally.count(contract.METRIC_MALFORMED)
    logger.error(
        f"a malformed message goes to the dead-letter queue: {it.reason}",
        extra={"message_id": it.message.message_id, "reason": it.reason, "receives": it.message.receives},
    )
    return aside.submit(composition.malformed().keep, it.message.body, it.reason)


def _has_failed(call: "Future[None]", logger: Logger) -> bool:
    """Whether the call to the queue failed, once it has ended; said in the log."""
    error = call.exception()
    if error is not None:
        logger.error(f"the queue: {error}", exc_info=None if isinstance(error, PortError) else error)
    return error is not None


def _give_back(lease: MessageLease, message_ids: Sequence[str], composition: Composition, logger: Logger) -> None:
    """Visible again at once; in a dry run later, since nothing waits for them but the end of the dry run."""
    visibility = _VISIBILITY if composition.deployment.is_dry_run else _GIVEN_BACK_VISIBILITY
    if not message_ids:
        return
    try:
        lease.hold(message_ids, visibility)
    except PortError as error:
        logger.warning(f"what is given back is seen again up to {_VISIBILITY.seconds} s later: {error}")
