"""`Reporter` that collects what it is told."""

from lambdas.domain.values.journal import Entry, Happening


class CollectingReporter:
    """Every entry, in the order in which it was told."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def tell(self, entry: Entry) -> None:
        """Collect it."""
        self.entries.append(entry)

    def of(self, happening: Happening) -> list[Entry]:
        """The entries of one kind."""
        return [entry for entry in self.entries if entry.happening is happening]
