"""`python -m bench [startup] [drains] [SCENARIO …]`: measure and print; --write keeps the figures in results.json."""

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench import drains, startup
from bench.beside import results
from bench.beside.measure import measure
from bench.beside.scenarios import SCENARIOS
from bench.beside.tools import ALWAYS, PEERS, TOOLS
from bench.rows import Row, as_json, table
from controlplane import NEWEST, provide

_RESULTS = Path(__file__).with_name("results.json")
_QUICK = ("startup", "drains")


def main() -> int:
    """Run what is asked for; all of it without anything. 1 where a run failed."""
    asked = _parser().parse_args()
    if asked.table:
        kept = json.loads(_RESULTS.read_text())
        print(results.table(kept), results.legend(kept), sep="\n\n")
        return 0
    wanted = asked.what or [*_QUICK, *SCENARIOS]
    _quick([section for section in _QUICK if section in wanted], asked.kubernetes, keeps=asked.write)
    scenarios = [name for name in SCENARIOS if name in wanted]
    return _beside(scenarios, asked)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    # argparse looks for the empty list itself among the choices where none is given.
    parser.add_argument(
        "what", nargs="*", choices=[*_QUICK, *SCENARIOS, []], help="default: all, hours of waiting included"
    )
    parser.add_argument(
        "--peer", action="append", default=[], choices=list(PEERS), help="beside those; also in the environment's PEERS"
    )
    parser.add_argument("--tool", action="append", choices=list(TOOLS), help=f"default: {' and '.join(ALWAYS)}")
    parser.add_argument(
        "--jobs", type=int, default=2, help="scenarios at a time, each on its control plane (default 2)"
    )
    parser.add_argument("--kubernetes", default=NEWEST, help=f"minor version of the control plane (default {NEWEST})")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {_RESULTS.name}")
    parser.add_argument("--seen", type=Path, metavar="FOLDER", help="keep there all that was seen, and the tools' logs")
    parser.add_argument("--table", action="store_true", help="print the kept figures of the scenarios as Markdown")
    return parser


def _tools(asked: argparse.Namespace) -> list[str]:
    """Each once, whoever names it."""
    peers = {*asked.peer, *os.environ.get("PEERS", "").split()}
    if unknown := peers - set(PEERS):
        raise SystemExit(f"PEERS names {', '.join(sorted(unknown))}; there are: {', '.join(PEERS)}")
    added = [tool for peer in sorted(peers) for tool in PEERS[peer]]
    return list(dict.fromkeys([*(asked.tool or ALWAYS), *added]))


def _quick(sections: list[str], kubernetes: str, *, keeps: bool) -> None:
    rows: list[Row] = []
    if "startup" in sections:
        rows += startup.rows()
    if "drains" in sections:
        rows += drains.rows(kubernetes)
    if not rows:
        return
    print(table(rows), flush=True)
    if keeps:
        with results.editing(_RESULTS) as kept:
            kept["date"] = datetime.now(UTC).date().isoformat()
            kept["python"] = platform.python_version()
            kept["kubernetes"] = kubernetes
            kept["kubernetes_client"] = version("kubernetes")
            kept["figures"] = as_json(rows)


def _beside(scenarios: list[str], asked: argparse.Namespace) -> int:
    """The tools one after the other in each scenario, each on a fresh cluster."""
    pairs = [(scenario, tool) for scenario in scenarios for tool in _tools(asked)]
    failed = 0
    if pairs:
        provide(asked.kubernetes)  # once, and not by every run at a time
    for (scenario, tool), measured in measure(pairs, asked.kubernetes, asked.jobs, asked.seen):
        if isinstance(measured, Exception):
            failed += 1
            print(f"{scenario} with {tool} failed: {measured!r}", file=sys.stderr, flush=True)
            continue
        print(json.dumps({"scenario": scenario, "tool": tool, **measured}), flush=True)
        if asked.write:
            results.keep(_RESULTS, scenario, tool, measured, asked.kubernetes)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
