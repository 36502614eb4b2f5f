"""`python -m bench [startup] [drains]`: measure, print a table, and write bench/results.json with --write."""

import argparse
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench import drains, startup
from bench.rows import Row, as_json, table
from controlplane import NEWEST

_RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    """Run the sections asked for; all without any."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    # argparse looks for the empty list itself among the choices where none is given.
    parser.add_argument("sections", nargs="*", choices=["startup", "drains", []], help="default: all")
    parser.add_argument("--kubernetes", default=NEWEST, help=f"minor version of the control plane (default {NEWEST})")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {_RESULTS.name}")
    asked = parser.parse_args()
    sections = asked.sections or ["startup", "drains"]
    rows: list[Row] = []
    if "startup" in sections:
        rows += startup.rows()
    if "drains" in sections:
        rows += drains.rows(asked.kubernetes)
    print(table(rows))
    if asked.write:
        made = {
            "date": datetime.now(UTC).date().isoformat(),
            "python": platform.python_version(),
            "kubernetes": asked.kubernetes,
            "kubernetes_client": version("kubernetes"),
            "figures": as_json(rows),
        }
        _RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
