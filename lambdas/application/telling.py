"""Telling whoever watches. Law: a reporter that breaks its word costs no drain."""

import logging

from lambdas.application.ports import Reporter
from lambdas.domain.values.journal import Entry

_log = logging.getLogger(__name__)


class PatientReporter:
    """A `Reporter` on another, whose faults end here."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def tell(self, entry: Entry) -> None:
        """Pass it on."""
        try:
            self._reporter.tell(entry)
        except Exception:  # noqa: BLE001 - the drain is worth more than its story
            _log.exception("the reporter failed at what it should not")
