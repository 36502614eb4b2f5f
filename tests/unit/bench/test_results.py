"""What was measured piece by piece is kept piece by piece, and told in one table."""

import json
from pathlib import Path
from typing import Any

from bench.beside import results
from bench.beside.scenarios import SCENARIOS

FIGURES: dict[str, Any] = {
    "graceful": 12,
    "killed_with_host": 18,
    "signalled_too_late": 0,
    "fewest_ready_endpoints": 21,
    "wanted_endpoints": 40,
    "budgets_exceeded_by": 18,
    "budgets_exceeded_seconds": 83.7,
    "missing_replica_seconds": 1622.7,
    "nodes_empty_at": None,
    "requests_a_node": 1133.0,
    "evictions_refused": 536,
    "peak_memory_mb": 58.0,
}


def kept(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_run_replaces_its_own_figures_and_leaves_all_others(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"figures": ["as it was"]}))
    results.keep(path, "D1", "kubectl", {}, "1.37")
    results.keep(path, "D1", "evac", {"graceful": 29}, "1.37")
    results.keep(path, "D1", "evac", {"graceful": 30}, "1.37")
    assert kept(path)["figures"] == ["as it was"]
    runs = kept(path)[results.SECTION]["D1"]
    assert (runs["kubectl"]["figures"], runs["evac"]["figures"]) == ({}, {"graceful": 30})
    assert runs["evac"]["versions"]["Kubernetes"].startswith("v1.37.")


def test_the_table_has_a_line_for_each_tool_and_says_never(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results.keep(path, "D6", "kubectl", FIGURES, "1.37")
    results.keep(path, "D1", "kubectl", FIGURES, "1.37")
    *_, first, second = results.table(kept(path)).splitlines()
    assert first.startswith("| **D1** | kubectl | 12 / 18 / 0 | 21 of 40 | by 18, 84 s | 1623 replica-s | never |")
    assert second.startswith("| **D6** |")
    assert "D19" not in results.legend(kept(path))


def test_pods_of_each_scenario_fill_its_nodes_evenly() -> None:
    for scenario in SCENARIOS.values():
        assert scenario.doomed % len(scenario.nodes) == 0
        assert len(set(scenario.nodes)) == len(scenario.nodes)
