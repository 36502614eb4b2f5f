"""Ctrl-C ends a command with 130, and with words."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.unit.cli.typing_it import S1

ROOT = Path(__file__).parents[3]


def test_a_replay_that_is_watched_can_be_broken_off() -> None:
    command = [sys.executable, "-m", "evac", *S1, "--speed", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "noticed" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[0] == "evac: interrupted"
    assert "Traceback" not in errors
