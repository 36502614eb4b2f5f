"""One log line for each drain: a sentence for whoever reads it at 3 a.m., and the record beside it."""

from datetime import datetime
from typing import Final

from aws_lambda_powertools import Logger

from lambdas.domain.values.drain_excerpt import excerpt
from lambdas.domain.values.drains import Departure, DrainRecord, Ending

_MOST_BYTES: Final = 200_000
"""CloudWatch Logs, quotas: an event of 256 KB, of which the logger's own fields take some."""


def say(logger: Logger, record: DrainRecord) -> None:
    """Write the line; as loud as it is for people to look at."""
    match record.ending:
        case Ending.FAILED:
            write = logger.error
        case Ending.PODS_LOST | Ending.STALE:
            write = logger.warning
        case _:
            write = logger.info
    write(sentence(record), extra={"drain": excerpt(record, _MOST_BYTES)})


def sentence(record: DrainRecord) -> str:
    """Which instance, what became of it, and what stood in the way."""
    instance = record.notice.instance_id
    match record.ending:
        case Ending.DRAINED:
            return f"node {record.node_name} ({instance}) drained: {_pods(record)}, {_spare(record)}"
        case Ending.PODS_LOST:
            return f"node {record.node_name} ({instance}) was lost with pods on it: {_pods(record)}"
        case Ending.NOT_OURS:
            return f"{instance} is none of this cluster's nodes: nothing to do"
        case Ending.ALREADY_GONE:
            return f"{instance} has no node any more: nothing to do"
        case Ending.STALE:
            return f"the notice for {instance} is long past ({_moment(record.notice.reclaim_at)}): nothing was touched"
        case Ending.JOINED:
            return f"{instance} has been drained by another invocation"
        case Ending.FAILED:
            return f"{instance} could not be drained, the notice is given back: {_problems(record)}"


def _pods(record: DrainRecord) -> str:
    lost = record.count(Departure.LOST)
    against = record.count(Departure.DELETED_AGAINST_BUDGET)
    text = f"{len(record.pods) - lost} of {len(record.pods)} pods left before reclaim"
    return f"{text}, {against} of them against a budget" if against else text


def _spare(record: DrainRecord) -> str:
    if record.ended_at is None:
        return "its end is not known"
    if not record.notice.has_deadline:
        return "no deadline"
    spare = (record.notice.reclaim_at - record.ended_at).total_seconds()
    return f"{spare:.0f} s to spare" if spare >= 0 else f"{-spare:.0f} s late"


def _problems(record: DrainRecord) -> str:
    return "; ".join(problem.message for problem in record.problems) or "no reason was told"


def _moment(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
