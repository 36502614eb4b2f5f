"""What happens during a drain, line by line in the function's log.

Law: a line carries names and moments, never a token or a body.
"""

from typing import Final

from aws_lambda_powertools import Logger

from lambdas.domain.values.journal import Entry, Happening

_LOUD: Final = frozenset({Happening.PROBLEM, Happening.LOST})


class LogReporter:
    """A `Reporter` that writes each entry as one JSON line."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def tell(self, entry: Entry) -> None:
        """Write the entry; what the logging itself cannot do it swallows (logging.Handler.handleError)."""
        write = self._logger.warning if entry.happening in _LOUD else self._logger.info
        write(
            f"{entry.subject}: {entry.happening.value}" + (f" ({entry.detail})" if entry.detail else ""),
            extra={
                "at": entry.at.isoformat(timespec="milliseconds"),
                "happening": entry.happening.name.lower(),
                "node": entry.node_name,
                "subject": entry.subject,
            },
        )
