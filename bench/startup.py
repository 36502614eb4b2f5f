"""What starting costs: the replay of the sample incident, and the handler's imports. Whole processes, medians."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from bench.rows import Row

_RUNS = 7
_REPLAY = ("-m", "evac", "replay", "examples/s1/events", "--cluster", "examples/s1/cluster.yaml")
_IMPORTS = {
    "import of lambdas.handlers.interruption": "import lambdas.handlers.interruption",
    "… with boto3 and the cluster's adapter": (
        "import lambdas.handlers.interruption, boto3, lambdas.adapters.kubernetes as k; k.preload()"
    ),
    "peer: import kubernetes.client": "import kubernetes.client",
    "peer: from kubernetes.client import CoreV1Api": "from kubernetes.client import CoreV1Api",
}


def rows() -> Iterator[Row]:
    """The replay beside a bare interpreter; each import beside the official client's own."""
    bare = _median(("-c", "pass"))
    replay = _median(_REPLAY)
    yield Row("replay", "replay of the sample (what `make replay` runs after set-up), wall", replay, "s", "under 1.5 s")
    yield Row("replay", "… of it: a bare Python", bare, "s")
    for what, code in _IMPORTS.items():
        yield Row("imports", what, _median(("-c", code)) - bare, "s")
        yield Row("imports", f"{what}, peak memory", _peak(code), "MB")


def _median(arguments: Sequence[str]) -> float:
    return statistics.median(_wall(arguments) for _ in range(_RUNS))


def _wall(arguments: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _peak(code: str) -> float:
    """Of a process that does only this; the kernel counts in KiB on Linux."""
    script = f"{code}\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout) * _UNIT / 1e6


_UNIT = 1 if sys.platform == "darwin" else 1024
