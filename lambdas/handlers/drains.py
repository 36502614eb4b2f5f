"""The drains of one batch: all in one call, each accounted for, and which messages are to be seen again.

Law: whatever goes wrong here, a message is either settled or given back.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from aws_lambda_powertools import Logger

from lambdas.adapters.log import LogReporter
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import MessageLease
from lambdas.application.requests import Fate, Request
from lambdas.domain.decisions.deadline import NOTHING_TOUCHED_AFTER
from lambdas.domain.errors import PortError
from lambdas.handlers.composition import Composition
from lambdas.handlers.metrics import Tally
from lambdas.handlers.summaries import say

_KEPT_FOR_THE_END: Final = timedelta(seconds=10)
"""Of the invocation's time: for giving back, counting and answering, with every call at its time-out."""


class Context(Protocol):
    """What of Lambda's context object is used."""

    aws_request_id: str

    def get_remaining_time_in_millis(self) -> int:
        """Until Lambda ends the invocation."""
        ...


class Drains:
    """Runs the drains of one invocation."""

    def __init__(
        self, composition: Composition, context: Context, lease: MessageLease, tally: Tally, logger: Logger
    ) -> None:
        self._composition = composition
        self._context = context
        self._lease = lease
        self._tally = tally
        self._logger = logger

    def run(self, requests: Sequence[Request], also_hold: Sequence[str]) -> list[str]:
        """Drain; the ids of the messages that are to be seen again."""
        if not requests:
            return []
        now = self._composition.clock.now()
        self._tally.noticed([request.notice for request in requests], now)
        try:
            fates = self._evacuate(requests, also_hold, now)
        except PortError as error:
            self._logger.error(f"no drain could begin, the notices are given back: {error}")  # noqa: TRY400 - expected
        except Exception:  # one drain's fault must not take the batch's other messages with it
            self._logger.exception("a fault of ours ended the drains, the notices are given back")
        else:
            self._account_for(fates)
            return self._to_be_seen_again(fates)
        return _messages_of(requests)

    def _evacuate(self, requests: Sequence[Request], also_hold: Sequence[str], now: datetime) -> list[Fate]:
        remaining = timedelta(milliseconds=self._context.get_remaining_time_in_millis())
        with self._composition.drain_ports(self._lease, LogReporter(self._logger)) as ports:
            return evacuate(
                requests,
                ports,
                self._composition.deployment.drain,
                owner=self._context.aws_request_id,
                until=now + max(timedelta(), remaining - _KEPT_FOR_THE_END),
                also_hold=also_hold,
            )

    def _account_for(self, fates: Sequence[Fate]) -> None:
        """Several messages for one instance are one drain, and one line."""
        for record in {fate.record.notice.instance_id: fate.record for fate in fates}.values():
            say(self._logger, record)
            if not self._composition.deployment.is_dry_run:
                self._tally.drained(record)

    def _to_be_seen_again(self, fates: Sequence[Fate]) -> list[str]:
        """What is not settled; in a dry run also what would still be worth something if that ended now."""
        now = self._composition.clock.now()
        is_dry_run = self._composition.deployment.is_dry_run
        return _messages_of(
            [fate.request for fate in fates if not fate.is_settled or (is_dry_run and _is_worth_keeping(fate, now))]
        )


def _is_worth_keeping(fate: Fate, now: datetime) -> bool:
    return bool(fate.record.node_name) and now < fate.request.notice.reclaim_at + NOTHING_TOUCHED_AFTER


def _messages_of(requests: Sequence[Request]) -> list[str]:
    return sorted({message_id for request in requests for message_id in request.message_ids})
