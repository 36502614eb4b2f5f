"""Whole drains on the real control plane on a day when something breaks in the middle."""

import json
import subprocess
import sys
import time
from threading import Timer

import pytest

from controlplane import Api, ControlPlane
from lambdas.domain.values.drains import Departure, Ending
from tests.cluster.drains import budget_is, drained, pods, room, settle, without_pods
from tests.cluster.rig import grant
from tests.scenes import budget, deployment, node, times

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def eight_pods(api: Api) -> None:
    """Eight pods of a Deployment behind maxUnavailable 1, and room elsewhere: some twelve seconds of drain."""
    grant(api)
    api.apply(node("spot-a"))
    settle(api, without_pods(deployment("web", {"spot-a": 8}, annotations=times(1, 1))), ready=8)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    room(api)


def test_the_api_server_goes_away_in_mid_drain_and_no_pod_is_lost(plane: ControlPlane, api: Api) -> None:
    def outage() -> None:
        plane.stop_process("kube-apiserver")
        time.sleep(5)
        plane.start_process("kube-apiserver")

    timer = Timer(3, outage)
    timer.start()
    result = drained(plane)
    timer.join()
    assert result.record.ending is Ending.DRAINED
    assert len(result.record.pods) == 8
    assert result.record.count(Departure.LOST, Departure.DELETED_AGAINST_BUDGET) == 0


def test_a_process_killed_in_mid_drain_is_gone_on_with_by_the_next(plane: ControlPlane, api: Api) -> None:
    asked = {"url": plane.url, "ca_file": str(plane.ca_file), "token": plane.token("handler"), "node": "spot-a"}
    first = subprocess.Popen([sys.executable, "-m", "bench.drain_once"], stdin=subprocess.PIPE, text=True)
    assert first.stdin
    first.stdin.write(json.dumps(asked))
    first.stdin.close()

    def left() -> int:
        return len([p for p in pods(api) if p["spec"].get("nodeName") == "spot-a"])

    api.until(lambda: left() <= 6)
    first.kill()
    first.wait()
    assert 0 < left() <= 6
    result = drained(plane)
    assert result.record.ending is Ending.DRAINED
    assert result.record.count(Departure.DELETED_AGAINST_BUDGET, Departure.LOST) == 0
    assert left() == 0
