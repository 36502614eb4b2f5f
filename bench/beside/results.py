"""The figures of side-by-side runs: kept one by one in results.json, and told as tables.

Several benches may write at once: each adds what it has measured and leaves the rest as it is.
"""

import fcntl
import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.beside.scenarios import SCENARIOS
from bench.beside.tools import TOOLS
from controlplane.pins import Pins

Figures = dict[str, Any]

SECTION = "side_by_side"


def versions(tool: str, kubernetes: str) -> dict[str, str]:
    """Of everything that has a say in a run's figures."""
    pins = Pins.of(kubernetes)
    return {
        tool: TOOLS[tool].version(kubernetes),
        "Kubernetes": pins.kubernetes,
        "kwok": pins.version_of("kwok", "sigs.k8s.io/kwok"),
        "Python": platform.python_version(),
    }


def keep(path: Path, scenario: str, tool: str, figures: Figures, kubernetes: str) -> None:
    """Put one run's figures in place of the former ones."""
    with editing(path) as results:
        of_scenario = results.setdefault(SECTION, {}).setdefault(scenario, {})
        of_scenario[tool] = {
            "date": datetime.now(UTC).date().isoformat(),
            "versions": versions(tool, kubernetes),
            "figures": figures,
        }


@contextmanager
def editing(path: Path) -> Iterator[dict[str, Any]]:
    """The results as they are; what the block makes of them is written."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        results: dict[str, Any] = json.loads(file.read() or "{}")
        yield results
        file.seek(0)
        file.truncate()
        file.write(json.dumps(results, indent=1) + "\n")


_HEAD = (
    "| | | graceful / killed with the host / too late | fewest Ready endpoints | budgets exceeded | missing replicas "
    "| nodes empty | requests a node (refused evictions) | memory |"
)


def table(results: Mapping[str, Any]) -> str:
    """Markdown: a line for each scenario and tool, in the order of the scenarios."""
    kept = results.get(SECTION, {})
    lines = [_HEAD, "|---|---|---|---|---|---|---|---|---|"]
    for name in SCENARIOS:
        for number, (tool, run) in enumerate(sorted(kept.get(name, {}).items())):
            lines.append(_line("" if number else f"**{name}**", tool, run["figures"]))
    return "\n".join(lines)


def legend(results: Mapping[str, Any]) -> str:
    """Markdown: what each scenario is, and what was measured with."""
    runs = [run for of_scenario in results.get(SECTION, {}).values() for run in of_scenario.values()]
    dates = sorted({run["date"] for run in runs})
    used = sorted({f"{what} {which}" for run in runs for what, which in run["versions"].items()})
    said = [f"- **{name}**: {it.what}" for name, it in SCENARIOS.items() if name in results.get(SECTION, {})]
    return "\n".join(
        [f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} with {', '.join(used)}.", "", *said]
    )


def _line(name: str, tool: str, it: Figures) -> str:
    cells = [
        name,
        tool,
        f"{it['graceful']} / {it['killed_with_host']} / {it['signalled_too_late']}",
        f"{it['fewest_ready_endpoints']} of {it['wanted_endpoints']}",
        _exceeded(it),
        f"{it['missing_replica_seconds']:.0f} replica-s",
        "never" if it["nodes_empty_at"] is None else f"{it['nodes_empty_at']:.0f} s",
        f"{it['requests_a_node']:.0f} ({it['evictions_refused']})",
        f"{it['peak_memory_mb']:.0f} MB",
    ]
    return f"| {' | '.join(cells)} |"


def _exceeded(it: Figures) -> str:
    if not it["budgets_exceeded_by"]:
        return "no"
    return f"by {it['budgets_exceeded_by']}, {it['budgets_exceeded_seconds']:.0f} s"
