"""`evac undo` takes off what is ours and leaves what was there before."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evac.simulator.node_patches import cordoned, excluded
from lambdas.contract import LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS, TAINT_INTERRUPTED
from lambdas.domain.values.actions import Mark
from tests.scenes import Json, node
from tests.unit.cli.loopback import Api, served
from tests.unit.cli.typing_it import evac


def drained(found: Json, *, reclaim_in: float = -600) -> Json:
    """The node as a drain leaves it."""
    reclaim = datetime.now(UTC) + timedelta(seconds=reclaim_in)
    mark = Mark("i-0a1b2c3d4e5f60718", "spot-interruption", reclaim, reclaim, reclaim + timedelta(minutes=15))
    return excluded(cordoned(found, mark))


@pytest.fixture
def api() -> Api:
    foreign = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
    return Api(
        [
            node("untouched", unschedulable=True),
            drained(node("spot-a", taints=[foreign])),
            drained(node("spot-b", unschedulable=True, labels={LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "true"})),
            drained(node("spot-c"), reclaim_in=100),
        ]
    )


@pytest.fixture
def way(api: Api, tmp_path: Path) -> Iterator[str]:
    with served(api, tmp_path) as kubeconfig:
        yield kubeconfig


def labels(api: Api, name: str) -> set[str]:
    found = api.node(name)
    assert found
    return set(found["metadata"]["labels"]) & {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS}


def spec(api: Api, name: str) -> Json:
    found = api.node(name)
    assert found
    return dict(found["spec"])


def test_all_takes_our_marks_off_every_marked_node_and_touches_no_other(api: Api, way: str) -> None:
    result = evac("undo", "--all", "--kubeconfig", way)
    assert result.exit_code == 0, result.output
    assert labels(api, "spot-a") == set()
    assert not spec(api, "spot-a").get("unschedulable")
    assert [t["key"] for t in spec(api, "spot-a")["taints"]] == ["dedicated"]
    assert spec(api, "untouched")["unschedulable"] is True
    patched = sorted(path for method, path in api.asked if method == "PATCH")
    assert patched == ["/api/v1/nodes/spot-a", "/api/v1/nodes/spot-b"]


def test_a_cordon_and_an_exclusion_that_were_there_before_stay_and_that_is_said(api: Api, way: str) -> None:
    result = evac("undo", "spot-b", "--kubeconfig", way)
    assert spec(api, "spot-b")["unschedulable"] is True
    assert labels(api, "spot-b") == {LABEL_EXCLUDE_FROM_LOAD_BALANCERS}
    assert "spot-b: took off label, mark, taint (cordon, load balancer exclusion stays: not ours)" in result.stdout


def test_a_node_that_is_being_drained_is_left_alone_unless_it_is_named(api: Api, way: str) -> None:
    everywhere = evac("undo", "--all", "--kubeconfig", way)
    assert "spot-c: is being drained right now" in everywhere.stdout
    assert spec(api, "spot-c")["unschedulable"] is True
    assert evac("undo", "spot-c", "--kubeconfig", way).exit_code == 0
    assert not spec(api, "spot-c").get("unschedulable")


def test_a_dry_run_says_what_would_be_taken_off_and_sends_no_patch(api: Api, way: str) -> None:
    result = evac("undo", "--all", "--dry-run", "--kubeconfig", way)
    assert result.exit_code == 0
    assert "spot-a: would take off label, mark, taint, cordon, load balancer exclusion" in result.stdout
    assert {method for method, _ in api.asked} == {"GET"}
    assert TAINT_INTERRUPTED in [t["key"] for t in spec(api, "spot-a")["taints"]]


def test_undoing_twice_finds_nothing_the_second_time(api: Api, way: str) -> None:
    evac("undo", "spot-a", "--kubeconfig", way)
    again = evac("undo", "spot-a", "--kubeconfig", way)
    assert (again.exit_code, "nothing of ours" in again.stdout) == (0, True)


def test_without_a_marked_node_there_is_nothing_to_undo(api: Api, way: str) -> None:
    api.objects[:] = [node("untouched")]
    result = evac("undo", "--all", "--kubeconfig", way)
    assert (result.exit_code, "nothing to undo" in result.stdout) == (0, True)


def test_a_refused_patch_is_a_failure_that_names_the_node(api: Api, way: str) -> None:
    api.refused["/api/v1/nodes/spot-a"] = 403
    result = evac("undo", "--all", "--kubeconfig", way)
    assert result.exit_code == 1
    assert "spot-a: " in result.stderr
    assert "403" in result.stderr
    assert labels(api, "spot-b") == {LABEL_EXCLUDE_FROM_LOAD_BALANCERS}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "give the name of one node, or --all"),
        (["spot-a", "--all"], "give the name of one node, or --all"),
        (["nowhere"], "there is no node nowhere"),
        (["../../pods"], "no name of a node"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_cure(way: str, words: list[str], complaint: str) -> None:
    result = evac("undo", *words, "--kubeconfig", way)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 2


@pytest.mark.parametrize(("status", "words"), [(401, "does not know who you are"), (403, "may not list nodes")])
def test_who_we_are_and_what_we_may_are_told_apart(api: Api, way: str, status: int, words: str) -> None:
    api.refused["/api/v1/nodes"] = status
    result = evac("undo", "--all", "--kubeconfig", way)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize(
    "words", [("undo", "--all"), ("replay", "--node", "a"), ("replay", "--node", "a", "--dry-run")]
)
def test_a_missing_or_empty_kubeconfig_is_wrong_usage_and_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "empty").touch()
    for name, complaint in (("none", "no such file or folder"), ("empty", "the file is empty")):
        path = tmp_path / name
        result = evac(*words, "--kubeconfig", str(path))
        assert (result.exit_code, result.stderr.splitlines()[0]) == (2, f"evac: {path}: {complaint}")
        assert len(result.stderr.splitlines()) == 2


def test_without_a_kubeconfig_the_usual_places_are_named(tmp_path: Path) -> None:
    assert "evac: /nowhere/kubeconfig: no such file" in evac("undo", "--all").stderr
    usual = evac("undo", "--all", KUBECONFIG="", HOME=str(tmp_path)).stderr
    assert f"evac: {tmp_path}/.kube/config: no such file" in usual


def test_the_variable_may_name_several_files_some_of_them_missing(way: str) -> None:
    assert evac("undo", "--all", "--dry-run", KUBECONFIG=f"/nowhere/config:{way}").exit_code == 0
