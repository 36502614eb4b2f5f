"""Typing a command, and the files that go with it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from evac.cli.commands import app
from tests.scenes import Json

EXAMPLES = Path(__file__).parents[3] / "examples"
S1 = ("replay", str(EXAMPLES / "s1" / "events"), "--cluster", str(EXAMPLES / "s1" / "cluster.yaml"))
NOT_RELEASED = ("--release", "off")
"""As before there were releases: what may be deleted against its budget is."""
TO_THE_END = ("--budgets", "never", *NOT_RELEASED)
"""What loses pods of S1: its budget respected, and nothing replaced beforehand."""

_NOT_THE_CALLERS: dict[str, str | None] = {
    "TERM": "xterm-256color",
    "KUBECONFIG": "/nowhere/kubeconfig",
    **dict.fromkeys(
        ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM", "LINES")
    ),
}
"""What of the environment changes the output: whose terminal runs the tests must not matter."""


def evac(*words: str, stdin: str | bytes | None = None, columns: int = 80, **environment: str) -> Result:
    """The command's streams and exit code; no terminal, `columns` wide."""
    env = {**_NOT_THE_CALLERS, "COLUMNS": str(columns), **environment}
    return CliRunner().invoke(app, list(words), input=stdin, env=env)


def told(result: Result) -> dict[str, Any]:
    """The JSON document that it printed."""
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def manifests(folder: Path, objects: Sequence[Json], name: str = "cluster.json") -> str:
    """A cluster file of these objects."""
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(path)


def events(folder: Path, bodies: Sequence[Json], name: str = "events.json") -> str:
    """An event file of these bodies."""
    path = folder / name
    path.write_text(json.dumps(list(bodies)))
    return str(path)
