"""One figure, and a table of them."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A measured figure. `target`: what it is to reach, in words; empty where it only informs."""

    group: str
    what: str
    value: float
    unit: str
    target: str = ""

    def text(self) -> str:
        """The value with its unit, three figures."""
        return f"{self.value:.3g} {self.unit}" if self.unit else f"{self.value:.0f}"


def table(rows: Iterable[Row]) -> str:
    """A Markdown table."""
    lines = ["| | figure | target |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.text()} | {row.target} |" for row in rows]
    return "\n".join(lines)


def as_json(rows: Iterable[Row]) -> list[dict[str, object]]:
    """The same for scripts."""
    return [asdict(row) for row in rows]
