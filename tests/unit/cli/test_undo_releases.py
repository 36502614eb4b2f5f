"""`evac undo` gives released pods back before it takes the marks off their node."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from evac.cli.undoing import undo_found
from evac.errors import Interrupted
from evac.restoring import what_is_ours
from evac.simulator import Simulation
from lambdas.contract import LABEL_DRAINING, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import Release
from lambdas.domain.values.kubernetes import Owner
from lambdas.domain.values.manifests import read_node, read_pod
from lambdas.domain.values.releases import DELETION_COST, RELEASED
from tests.scenes import NOTICE, Json, deployment, node
from tests.unit.cli.draining import drained

REPLICAS = 14


def web() -> list[Json]:
    return [node("spot-a"), node("other"), *deployment("web", {"spot-a": 12, "other": 2})]


def broken_off() -> Simulation:
    """A drain that was broken off with pods released, and replacements that are not Ready yet."""
    seen: list[Simulation] = []
    with pytest.raises(Interrupted):
        drained(web(), meanwhile=seen.append, interrupted_at=8)
    assert len(with_label(seen[0])) == 4
    return seen[0]


def with_label(simulation: Simulation) -> list[Json]:
    return [pod for pod in simulation.list("Pod") if LABEL_RELEASED in pod["metadata"]["labels"]]


def staying(simulation: Simulation) -> list[Json]:
    return [pod for pod in simulation.list("Pod") if "deletionTimestamp" not in pod["metadata"]]


def undone(simulation: Simulation, *names: str, is_dry_run: bool = False) -> int:
    """`evac undo NAME`, or with none `evac undo --all`."""
    nodes = [n for n in simulation.list("Node") if n["metadata"]["name"] in names or not names]
    marked = [n for n in nodes if names or LABEL_DRAINING in n["metadata"]["labels"]]
    found = [what_is_ours(read_node(n)) for n in marked]
    cluster = simulation.cluster()
    return undo_found(found, cluster, simulation.clock, is_dry_run=is_dry_run, is_named=bool(names))


def is_marked(simulation: Simulation) -> bool:
    found = simulation.get("Node", "", "spot-a")
    return bool(found and LABEL_DRAINING in found["metadata"]["labels"])


@pytest.mark.parametrize("waited", [0, 15])
def test_the_replica_set_has_its_pods_again_and_keeps_those_that_serve(waited: float) -> None:
    simulation = broken_off()
    simulation.run_for(timedelta(seconds=waited))
    assert undone(simulation, "spot-a") == 0
    pods = staying(simulation)
    assert len(pods) == REPLICAS
    assert not any(LABEL_RELEASED in pod["metadata"]["labels"] for pod in pods)
    assert not any(DELETION_COST in pod["metadata"]["annotations"] for pod in pods)
    assert len({pod["metadata"]["labels"][LABEL_TEMPLATE_HASH] for pod in pods}) == 1
    assert all(pod["metadata"].get("ownerReferences") for pod in pods)
    on_it = [pod for pod in pods if pod["spec"].get("nodeName") == "spot-a"]
    assert len(on_it) == (12 if waited == 0 else 8)
    assert not is_marked(simulation)


def test_what_a_drain_that_is_still_going_on_releases_meanwhile_is_given_back_too() -> None:
    """Here another hand: it releases in the moment in which the pods are given back."""
    simulation = broken_off()
    raw = next(p for p in simulation.list("Pod") if LABEL_RELEASED not in p["metadata"]["labels"])
    other = simulation.cluster()
    simulation.schedule(simulation.clock.now() + timedelta(milliseconds=20), lambda: other.start(release_of(raw)))
    assert undone(simulation, "spot-a") == 0
    pods = staying(simulation)
    assert len(pods) == REPLICAS
    assert not any(LABEL_RELEASED in pod["metadata"]["labels"] for pod in pods)


def release_of(raw: Json) -> Release:
    pod = read_pod(raw)
    assert pod.owner
    template_hash = raw["metadata"]["labels"][LABEL_TEMPLATE_HASH]
    deployment_of = Owner("Deployment", "web", "Deployment-web", "apps/v1")
    return Release(pod.ref, template_hash, pod.owner, deployment_of, NOTICE)


def test_a_dry_run_names_the_pods_and_touches_none(capsys: pytest.CaptureFixture[str]) -> None:
    simulation = broken_off()
    assert undone(simulation, "spot-a", is_dry_run=True) == 0
    told = capsys.readouterr().out
    assert "spot-a: would give back 4 released pods: default/web-5d4f8c7b9-{00, 01, 02, 03}" in told
    assert len(with_label(simulation)) == 4
    assert is_marked(simulation)


def test_all_finds_released_pods_on_nodes_that_carry_no_mark_any_more(capsys: pytest.CaptureFixture[str]) -> None:
    simulation = broken_off()
    simulation.patch("Node", "", "spot-a", {"metadata": {"labels": {LABEL_DRAINING: None}}})
    assert undone(simulation) == 0
    assert "spot-a: gave back 4 released pods" in capsys.readouterr().out
    assert not with_label(simulation)
    assert len(staying(simulation)) == REPLICAS


def test_released_pods_of_another_node_are_left_alone() -> None:
    simulation = broken_off()
    assert undone(simulation, "other") == 0
    assert len(with_label(simulation)) == 4


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (lambda s: s.faults.forbidden("patch", "pods"), "may not patch pods"),
        (lambda s: s.faults.failing(every=1, verb="patch", resource="pods"), "500"),
    ],
)
def test_a_node_whose_pods_cannot_be_given_back_keeps_its_marks(
    trouble: Callable[[Simulation], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    simulation = broken_off()
    trouble(simulation)
    assert undone(simulation, "spot-a") == 1
    told = capsys.readouterr().err
    assert "not given back, so its marks stay" in told
    assert words in told
    assert is_marked(simulation)


def test_where_pods_may_not_be_listed_that_is_said_and_the_node_is_undone_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = broken_off()
    simulation.faults.forbidden("list", "pods")
    assert undone(simulation, "spot-a") == 1
    assert "released pods are not looked for: listing released pods: 403" in capsys.readouterr().err
    assert not is_marked(simulation)


def test_a_pod_whose_replica_set_is_no_more_is_deleted_since_nobody_would_take_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    simulation = broken_off()
    simulation.delete("Deployment", "default", "web")
    simulation.run_for(timedelta(seconds=5))
    left = [pod for pod in staying(simulation) if pod["metadata"]["labels"].get(LABEL_RELEASED) == RELEASED]
    assert len(left) == 4
    assert undone(simulation, "spot-a") == 0
    assert "spot-a: deleted 4 released pods" in capsys.readouterr().out
    assert not staying(simulation)
