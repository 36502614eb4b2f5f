"""The command as a process of its own: what it loads, and how it treats the streams it is given."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.typing_it import EXAMPLES, S1, TO_THE_END

ROOT = Path(__file__).parents[3]
HEAVY = {"kubernetes", "boto3", "botocore", "urllib3", "requests", "aws_lambda_powertools", "moto", "asyncio"}


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"}}
    env = {**kept, "COLUMNS": "80", "TERM": "xterm", **environment}
    return subprocess.run([sys.executable, "-m", "evac", *words], cwd=ROOT, env=env, capture_output=True, check=False)


def test_a_replay_on_the_simulator_loads_no_client_of_kubernetes_or_aws() -> None:
    code = (
        "import sys; from evac.cli import main\ntry: main()\nfinally: print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *S1, "--output", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    loaded = {name.partition(".")[0] for name in done.stderr.splitlines()}
    assert done.returncode == 0
    assert not loaded & (HEAVY | {"rich"})


def test_python_dash_m_is_the_command() -> None:
    done = run(*S1)
    assert done.returncode == 0
    assert "33 pods: all left gracefully" in done.stdout.decode()
    assert done.stderr == b""


def test_exit_codes_reach_the_shell() -> None:
    assert run(*S1, *TO_THE_END).returncode == 1
    assert run("replay").returncode == 2


@pytest.mark.parametrize(("flags", "code"), [((), 0), (TO_THE_END, 1)])
def test_a_reader_that_goes_away_is_no_traceback_and_the_replay_goes_on_to_its_end(
    flags: tuple[str, ...], code: int
) -> None:
    command = [sys.executable, "-m", "evac", *S1, *flags]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == code


def test_a_terminal_that_knows_ascii_only_is_no_traceback() -> None:
    done = run(*S1, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    done.stdout.decode("ascii")


def test_manifests_may_come_through_a_pipe_of_the_shell() -> None:
    cluster = (EXAMPLES / "s1" / "cluster.yaml").read_bytes()
    command = [sys.executable, "-m", "evac", *S1[:2], "--cluster", "/dev/stdin"]
    done = subprocess.run(command, cwd=ROOT, input=cluster, capture_output=True, check=False)
    assert done.returncode == 0
