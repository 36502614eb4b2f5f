"""Room for replacements, asked for at the notice: all that is short at once, not pod by pod as evictions succeed."""

from collections.abc import Mapping
from datetime import datetime

from lambdas.application.ports import Background, Replacements


class CapacityRequests:
    """Tells the port what finds no room, whenever that changes; nothing waits for it."""

    KEY = "replacements"

    def __init__(self, replacements: Replacements | None, background: Background) -> None:
        self._replacements = replacements
        self._background = background
        self._told: Mapping[str, int] = {}

    def tell(self, shortfalls: Mapping[str, int], now: datetime) -> None:
        """`shortfalls`: per Deployment ("namespace/name"), the replacements without room and the pods to be released.

        Told as often as it grows or shrinks, and once more when it is over.
        """
        port, wants = self._replacements, dict(shortfalls)
        if port is None or wants == self._told:
            return
        self._told = wants
        self._background.start((self.KEY, tuple(sorted(wants.items()))), lambda: port.want(wants, now))
