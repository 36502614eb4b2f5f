"""`Replacements` that remembers what it was told."""

from collections.abc import Mapping
from datetime import datetime

from lambdas.domain.errors import PortError


class MemoryReplacements:
    """Law: the newest call counts; what came before is kept for whoever asks."""

    def __init__(self) -> None:
        self.error: PortError | None = None
        self.told: list[tuple[datetime, dict[str, int]]] = []
        """Each call: when, and how many pods of which Deployment found no room."""

    def want(self, pods: Mapping[str, int], now: datetime) -> None:
        """Take note."""
        if self.error:
            raise self.error
        self.told.append((now, dict(pods)))

    @property
    def wanted(self) -> dict[str, int]:
        """What is wanted now."""
        return self.told[-1][1] if self.told else {}
