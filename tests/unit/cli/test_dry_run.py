"""A dry run reads the cluster once, changes nothing, and says what would happen."""

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
    assert "may not be read, so not checked: Job, HorizontalPodAutoscaler" in text
    assert "all would have left gracefully" in text


def test_an_object_that_is_not_as_the_api_says_is_left_out_and_named(api: Api, way: str) -> None:
    odd = bare("odd", "spot-a")
    odd["spec"]["terminationGracePeriodSeconds"] = "long"
    api.objects.append(odd)
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json")
    assert result.exit_code == 0
    assert "left out: Pod odd" in told(result)["cluster"]["notes"][0]


def test_without_the_right_to_list_nodes_there_is_nothing_to_replay_on(api: Api, way: str) -> None:
    api.refused["/api/v1/nodes"] = 403
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--dry-run")
    assert result.exit_code == 2
    assert "may not list nodes" in result.stderr


def test_a_context_that_is_not_there_is_wrong_usage(way: str) -> None:
    result = evac("replay", "--node", "spot-a", "--kubeconfig", way, "--context", "elsewhere", "--dry-run")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 2


def test_a_live_replay_finds_the_node_before_it_begins(api: Api, way: str) -> None:
    result = evac("replay", "--node", "spot-x", "--kubeconfig", way)
    assert result.exit_code == 2
    assert "did you mean spot-a?" in result.stderr
    api.objects.append({**node("plain"), "spec": {}})
    assert "no providerID" in evac("replay", "--node", "plain", "--kubeconfig", way).stderr
    assert {method for method, _ in api.asked} == {"GET"}
