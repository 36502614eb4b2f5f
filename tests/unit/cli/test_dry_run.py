"""A dry run reads the cluster once, changes nothing, and says what would happen."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenes import bare, budget, deployment, node, service
from tests.unit.cli.loopback import Api, served
from tests.unit.cli.typing_it import evac, told


@pytest.fixture
def api() -> Api:
    web = deployment("web", {"spot-a": 3, "other": 1})
    return Api(
        [
            node("spot-a"),
            node("other"),
            *web,
            bare("alone", "spot-a"),
            budget("web", {"app": "web"}, maxUnavailable=1),
            service("web", {"app": "web"}),
        ]
    )


@pytest.fixture
def way(api: Api, tmp_path: Path) -> Iterator[str]:
    with served(api, tmp_path) as kubeconfig:
        yield kubeconfig


def test_it_replays_on_what_it_read_and_only_reads(api: Api, way: str) -> None:
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json")
    document = told(result)
    assert (result.exit_code, document["mode"]) == (0, "dry-run")
    assert document["totals"]["graceful"] == 4
    assert [w["name"] for w in document["workloads"]] == ["default/web"]
    assert {method for method, _ in api.asked} == {"GET"}


def test_a_kind_without_any_object_is_empty_and_one_that_may_not_be_read_is_unknown(api: Api, way: str) -> None:
    api.refused["/apis/batch/v1/jobs"] = 403
    api.refused["/apis/autoscaling/v2/horizontalpodautoscalers"] = 404
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json")
    assert told(result)["cluster"]["unknown_kinds"] == ["Job", "HorizontalPodAutoscaler"]
    text = " ".join(evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run").stdout.split())
    assert "may not be read, so unknown: Job, HorizontalPodAutoscaler" in text
    assert "all would have left gracefully" in text


def test_where_a_kind_that_may_forbid_a_release_may_not_be_read_none_is_foretold(api: Api, way: str) -> None:
    told_of = ("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json")
    released = [pod["released_at_s"] is not None for pod in told(evac(*told_of))["drains"][0]["pods"]]
    assert sum(released) == 3
    api.refused["/api/v1/resourcequotas"] = 403
    pods = [pod for pod in told(evac(*told_of))["drains"][0]["pods"] if pod["workload"]]
    assert [pod["released_at_s"] for pod in pods] == [None] * 3
    assert {pod["not_released"] for pod in pods} == {"not checked: resourcequotas could not be read"}
    unchecked = told(evac(*told_of, "--release-unchecked"))["drains"][0]["pods"]
    assert sum(pod["released_at_s"] is not None for pod in unchecked) == 3


def test_an_object_that_is_not_as_the_api_says_is_left_out_and_named(api: Api, way: str) -> None:
    odd = bare("odd", "spot-a")
    odd["spec"]["terminationGracePeriodSeconds"] = "long"
    api.objects.append(odd)
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json")
    assert result.exit_code == 0
    assert "left out: Pod odd" in told(result)["cluster"]["notes"][0]


@pytest.mark.parametrize("kind", ["nodes", "pods"])
def test_without_the_right_to_list_nodes_and_pods_there_is_nothing_to_replay(api: Api, way: str, kind: str) -> None:
    api.refused[f"/api/v1/{kind}"] = 403
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run")
    assert result.exit_code == 2
    assert f"may not list {kind}" in result.stderr


def test_a_context_that_is_not_there_is_wrong_usage(way: str) -> None:
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--context", "elsewhere", "--dry-run")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 2


def test_a_live_replay_says_what_it_is_going_to_drain(way: str) -> None:
    stderr = evac("replay", "--node", "spot-x", "--kubeconfig", way).stderr
    assert "draining for real: spot-x" in stderr
    assert "of cluster here, http://127.0.0.1:" in stderr
    assert f"by context here of {way}" in stderr


@pytest.mark.parametrize(
    ("words", "typed", "asks", "goes_on"),
    [((), "n", True, False), ((), "y", True, True), (("--yes",), "n", False, True)],
)
def test_on_a_terminal_a_live_replay_has_to_be_agreed_to(
    api: Api, way: str, words: tuple[str, ...], typed: str, asks: bool, goes_on: bool
) -> None:
    ours, theirs = os.openpty()
    os.write(ours, f"{typed}\n".encode())
    command = [sys.executable, "-m", "evac", "replay", "--node", "spot-x", "--kubeconfig", way, *words]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert ("drain it?" in done.stderr) is asks
    assert ("no such node" in done.stderr) is goes_on
    assert ("nothing was touched" in done.stderr) is not goes_on
    assert bool(api.asked) is goes_on


def test_a_live_replay_finds_the_node_before_it_begins(api: Api, way: str) -> None:
    result = evac("replay", "--node", "spot-x", "--kubeconfig", way)
    assert result.exit_code == 2
    assert "did you mean spot-a?" in result.stderr
    api.objects.append({**node("plain"), "spec": {}})
    assert "no providerID" in evac("replay", "--node", "plain", "--kubeconfig", way).stderr
    assert {method for method, _ in api.asked} == {"GET"}
