"""The sweeper function: each minute, what interrupted drains left in the cluster is finished or undone.

Law: a sweep that did not see everything does not count as one, so that its alarm rings when sweeps stop working.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools import Logger

from lambdas import contract
from lambdas.adapters.log import LogReporter
from lambdas.application.sweeping import Swept, sweep
from lambdas.domain.errors import PortError
from lambdas.handlers.composition import Composition, compose
from lambdas.handlers.drains import Context
from lambdas.handlers.metrics import Tally
from lambdas.handlers.summaries import say

_KEPT_FOR_THE_END: Final = timedelta(seconds=5)

_logger = Logger(service=contract.SERVICE)


@_logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Context) -> dict[str, int]:
    """Lambda's entry point: a schedule's event, of which nothing is used; answered with what was met and done."""
    return run(context, compose(os.environ), _logger)


def run(context: Context, composition: Composition, logger: Logger) -> dict[str, int]:
    """One sweep in the world that `composition` makes."""
    deployment = composition.deployment
    logger.append_keys(cluster=deployment.cluster_name, dry_run=deployment.is_dry_run)
    tally = Tally(deployment.cluster_name)
    until = composition.clock.now() + timedelta(milliseconds=context.get_remaining_time_in_millis()) - _KEPT_FOR_THE_END
    swept = Swept(is_whole=False)
    try:
        with composition.drain_ports(None, LogReporter(logger)) as ports:
            swept = sweep(ports, deployment.drain, owner=context.aws_request_id, until=until)
    except PortError as error:
        logger.error(f"no sweep could begin, the next is due in a minute: {error}")  # noqa: TRY400 - expected
    except Exception:  # the next minute's sweep is the retry, and it must not find this one's metrics missing
        logger.exception("a fault of ours ended the sweep")
    _account_for(swept, tally, logger, is_dry_run=deployment.is_dry_run)
    tally.flush()
    return {"nodes": swept.nodes, "pods": swept.pods, "done": swept.things_done}


def _account_for(swept: Swept, tally: Tally, logger: Logger, *, is_dry_run: bool) -> None:
    if swept.is_whole:
        tally.count(contract.METRIC_SWEEPS)
    if swept.has_failed:
        tally.count(contract.METRIC_SWEEP_FAILED)
    tally.troubled(swept.problems)
    for problem in swept.problems:
        logger.warning(f"sweep: {problem.message}", extra={"trouble": problem.trouble.value})
    if not swept.things_done:
        return
    for record in swept.drained:
        say(logger, record)
        if not is_dry_run:
            tally.drained(record)
    if not is_dry_run:
        tally.count(contract.METRIC_SWEPT, swept.things_done)
    logger.warning(_sentence(swept), extra={"swept": _as_json(swept)})


def _sentence(swept: Swept) -> str:
    """What was left behind, for whoever asks why a node came back or a pod went."""
    parts = (
        (len(swept.drained), "drains taken over"),
        (len(swept.given_back), "nodes given back"),
        (len(swept.pods_taken_back), "released pods given back to their ReplicaSets"),
        (len(swept.pods_deleted), "released pods deleted, whose ReplicaSet is no more"),
        (len(swept.pods_tidied), "pods tidied up"),
    )
    return "left behind by an earlier drain: " + ", ".join(f"{number} {what}" for number, what in parts if number)


def _as_json(swept: Swept) -> dict[str, list[str]]:
    return {
        "drained": [record.node_name for record in swept.drained],
        "given_back": swept.given_back,
        "pods_taken_back": swept.pods_taken_back,
        "pods_deleted": swept.pods_deleted,
        "pods_tidied": swept.pods_tidied,
    }
