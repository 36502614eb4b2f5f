"""What a drain costs on a real control plane, beside `kubectl drain` of the same node in the same run."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.rows import Row
from controlplane import Api, ControlPlane, Identity
from controlplane.binaries import provide
from evac.rbac import manifests
from lambdas.contract import KUBERNETES_GROUP
from tests.scenes import bare, node, times

_HANDLER = Identity("handler", user="evac-bench", groups=(KUBERNETES_GROUP,))
_KUBECTL = Identity("kubectl", user="kubectl-bench", groups=("system:masters",))
_NODES = 7
_BURST = 250
_DRAIN_FLAGS = ("--force", "--delete-emptydir-data", "--ignore-daemonsets", "--timeout=120s")
"""What AWS Node Termination Handler asks of the same engine."""


def rows(version: str) -> Iterator[Row]:
    """Latencies of one warm process, and 250 pods at once."""
    with ControlPlane(version, identities=[_HANDLER, _KUBECTL]) as plane:
        api = Api(plane)
        for manifest in manifests():
            api.apply(manifest)
        yield from _latencies(plane, api)
        yield from _burst(plane, api)


def _latencies(plane: ControlPlane, api: Api) -> Iterator[Row]:
    for index in range(_NODES + 1):
        _fill(api, f"n{index}", 3)
    runs = [_ours(plane, f"n{index}", warm_up="n0") for index in range(1, _NODES + 1)]
    group = "notice"
    cordoned = statistics.median(run["cordoned"] for run in runs)
    first = statistics.median(run["first"] for run in runs)
    yield Row(group, "notice → cordon accepted, warm process", cordoned * 1000, "ms", "under 150 ms")
    yield Row(group, "notice → first eviction accepted", first * 1000, "ms", "under 300 ms")


def _burst(plane: ControlPlane, api: Api) -> Iterator[Row]:
    _fill(api, "burst-a", _BURST)
    ours = _ours(plane, "burst-a")
    group = "250 unblocked bare pods"
    yield Row(group, "250 bare pods: all evictions accepted", ours["signalled"][-1], "s", "within 3 s")
    yield Row(group, "250 bare pods: node empty", ours["ended"], "s")
    yield Row(group, "250 bare pods: requests", ours["requests"], "")
    yield Row(group, "250 bare pods: peak memory of the process", ours["peak_mb"], "MB", "under 200 MB")
    _fill(api, "burst-b", _BURST)
    took, requests = _kubectl(plane, "burst-b")
    yield Row(group, "peer: kubectl drain, node empty", took, "s")
    yield Row(group, "peer: kubectl drain, requests", requests, "")


def _fill(api: Api, name: str, count: int) -> None:
    """A node with so many bare pods, all Ready."""
    api.apply(node(name, pods=count + 10))
    for index in range(count):
        api.apply(bare(f"{name}-{index:03}", name, {"on": name}, annotations=times(0.05, 1)))

    def are_running() -> bool:
        items = api.items("Pod", "default", f"labelSelector=on%3D{name}&fieldSelector=status.phase%3DRunning")
        return len(items) == count

    api.until(are_running, timedelta(seconds=120))


def _ours(plane: ControlPlane, name: str, warm_up: str = "") -> dict[str, Any]:
    asked = {
        "url": plane.url,
        "ca_file": str(plane.ca_file),
        "token": plane.token("handler"),
        "node": name,
        "warm_up": warm_up,
    }
    done = subprocess.run(
        [sys.executable, "-m", "bench.drain_once"],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["ending"] == "drained", result
    return result


def _kubectl(plane: ControlPlane, name: str) -> tuple[float, int]:
    """Seconds until it says that the node is drained, and its requests by the server's own audit log."""
    programs = provide(plane.version)
    since = datetime.now(UTC)
    began = time.perf_counter()
    subprocess.run(
        [str(programs / "kubectl"), "drain", name, *_DRAIN_FLAGS],
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig("kubectl"))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began, len(plane.requests(_KUBECTL.user, since))
