"""app.py as the CDK runs it: a process of its own, the context in its environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.infra.synth import ROOT

NO_BUNDLING: dict[str, object] = {"aws:cdk:bundling-stacks": []}


def _run(context: dict[str, object], out: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CDK_CONTEXT_JSON": json.dumps(context), "CDK_OUTDIR": str(out)}
    environment["CDK_VALIDATION"] = "false"  # the CDK's own rules take 8 s, and run over this template elsewhere
    return subprocess.run(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def _ours(said: str) -> list[str]:
    """What was said, without jsii's warning about the version of Node (lines that begin as bytes)."""
    return [line for line in said.splitlines() if not line.startswith("b'")]


def test_a_wrong_context_is_answered_by_one_line(tmp_path: Path) -> None:
    done = _run({"clusterName": "shop", "memorySize": "lots", **NO_BUNDLING}, tmp_path)
    (line,) = _ours(done.stderr)
    assert line.startswith("evac: context key memorySize is 'lots': type ")
    assert done.returncode == 1


def test_a_right_context_is_synthesized_in_silence(tmp_path: Path) -> None:
    done = _run({"clusterName": "shop", **NO_BUNDLING}, tmp_path)
    assert (_ours(done.stderr), done.stdout, done.returncode) == ([], "", 0)
    assert (tmp_path / "evac-shop.template.json").is_file()
