"""What is counted, as CloudWatch metrics in the log (EMF: no API call on the way).

Law: names and dimensions are the contract's; no dimension names a node, an instance or a pod.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from lambdas import contract
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, Problem, Trouble
from lambdas.domain.values.notices import Notice

_OF_ENDING: Final = {
    Ending.NOT_OURS: contract.METRIC_NOT_OURS,
    Ending.ALREADY_GONE: contract.METRIC_ALREADY_GONE,
    Ending.STALE: contract.METRIC_STALE,
}
_OF_TROUBLE: Final = {
    Trouble.UNAUTHENTICATED: contract.METRIC_CLUSTER_UNAUTHENTICATED,
    Trouble.FORBIDDEN: contract.METRIC_CLUSTER_FORBIDDEN,
    Trouble.LEDGER: contract.METRIC_LEDGER_FAILED,
}
_GRACEFUL: Final = tuple(departure for departure in Departure if departure.is_graceful)


class Tally:
    """The metrics of one invocation, its own: nothing is left over for the next."""

    def __init__(self, cluster_name: str) -> None:
        dimensions = contract.metric_dimensions(cluster_name)
        self._metrics = EphemeralMetrics(
            namespace=contract.METRICS_NAMESPACE, service=contract.SERVICE, default_dimensions=dimensions
        )
        self._is_empty = True

    def count(self, name: str, number: int = 1) -> None:
        """`number` more of `name`; none is not sent."""
        if number:
            self._add(name, MetricUnit.Count, number)

    def noticed(self, notices: Iterable[Notice], now: datetime) -> None:
        """Notices as received, with the age each had."""
        for notice in notices:
            self.count(contract.METRIC_NOTICES)
            self._seconds(contract.METRIC_NOTICE_AGE, now - notice.noticed_at)

    def drained(self, record: DrainRecord) -> None:
        """One drain's outcome."""
        if name := _OF_ENDING.get(record.ending):
            self.count(name)
        elif record.is_late and record.ending.gave_pods_their_chance:
            self.count(contract.METRIC_LATE)
        self.troubled(record.problems)
        self._times(record)
        if record.ending.gave_pods_their_chance:
            self._add(contract.METRIC_PODS_GRACEFUL, MetricUnit.Count, record.count(*_GRACEFUL))
            against = record.count(Departure.DELETED_AGAINST_BUDGET)
            self._add(contract.METRIC_PODS_AGAINST_BUDGET, MetricUnit.Count, against)
            released = sum(1 for pod in record.pods if pod.released_at)
            self._add(contract.METRIC_PODS_RELEASED, MetricUnit.Count, released)
            self._add(contract.METRIC_PODS_LOST, MetricUnit.Count, record.count(Departure.LOST))

    def troubled(self, problems: Iterable[Problem]) -> None:
        """What went wrong, each kind once."""
        for trouble in {problem.trouble for problem in problems} & _OF_TROUBLE.keys():
            self.count(_OF_TROUBLE[trouble])

    def _times(self, record: DrainRecord) -> None:
        """From the event's own time on, since the deadline counts from there."""
        noticed_at = record.notice.noticed_at
        if record.cordoned_at:
            self._seconds(contract.METRIC_TIME_TO_CORDON, record.cordoned_at - noticed_at)
        if record.first_action_at:
            self._seconds(contract.METRIC_TIME_TO_FIRST_ACTION, record.first_action_at - noticed_at)
        if record.first_signal_at:
            self._seconds(contract.METRIC_TIME_TO_FIRST_EVICTION, record.first_signal_at - noticed_at)
        if record.ended_at and record.ending.gave_pods_their_chance and record.notice.has_deadline:
            self._seconds(contract.METRIC_SECONDS_TO_SPARE, record.notice.reclaim_at - record.ended_at)

    def flush(self) -> None:
        """Write them to the log."""
        if not self._is_empty:
            self._metrics.flush_metrics()

    def _seconds(self, name: str, duration: timedelta) -> None:
        self._add(name, MetricUnit.Seconds, duration.total_seconds())

    def _add(self, name: str, unit: MetricUnit, value: float) -> None:
        self._is_empty = False
        self._metrics.add_metric(name=name, unit=unit, value=value)
