"""What a replay tells of graces, of budgets and of what it does not know."""

import json
import re
from pathlib import Path

import pytest

from tests.scenes import bare, budget, deployment, job, node, spot_notice, times
from tests.unit.cli.typing_it import evac, events, manifests, told


def test_a_hibernation_names_its_grace_and_not_the_pods(tmp_path: Path) -> None:
    web = deployment("web", {"spot-a": 3}, annotations=times(1, 20))
    objects = [node("spot-a"), node("other"), *web, budget("web", {"app": "web"}, maxUnavailable=1)]
    notice = events(tmp_path, [spot_notice("spot-a", action="hibernate")])
    result = evac("replay", notice, "--cluster", manifests(tmp_path, objects))
    flowing = " ".join(result.stdout.split())
    assert "SIGKILL at the end of a grace cut to 1 s: the host gives no notice" in flowing
    assert "too short" not in flowing
    assert "1s of 30s" in flowing
    assert re.search(r"held by (a PDB|PDB default/web) to the last", flowing)
    assert "PDB default/web was exceeded: 0 of 2 Ready at worst" in flowing
    assert result.exit_code == 0


def test_a_long_grace_that_was_cut_is_told_beside_what_was_asked_for(tmp_path: Path) -> None:
    slow = bare("db", "spot-a", grace=300, annotations=times(1, 200))
    cluster = manifests(tmp_path, [node("spot-a"), slow])
    flowing = " ".join(evac("replay", "--node", "spot-a", "--cluster", cluster).stdout.split())
    assert "114s of 300s" in flowing
    assert "SIGKILL at the end of a grace cut to 114 s of 300 s: no more was left: default/db" in flowing
    [pod] = told(evac("replay", "--node", "spot-a", "--cluster", cluster, "--output", "json"))["drains"][0]["pods"]
    assert (pod["grace_s"], pod["own_grace_s"]) == (114, 300)


def test_pods_that_were_left_to_finish_are_told_as_such(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [node("spot-a"), *job("report", "spot-a", annotations=times(completes=30))])
    row = re.search(r"^default/report-x .*$", evac("replay", "--node", "spot-a", "--cluster", cluster).stdout, re.M)
    assert row
    assert row[0].endswith("finish")


def test_nodes_without_any_pod_in_the_files_are_an_error_with_a_cure(tmp_path: Path) -> None:
    result = evac("replay", "--node", "spot-a", "--cluster", manifests(tmp_path, [node("spot-a")]))
    assert result.exit_code == 2
    assert "hold no Pod" in result.stderr
    assert "kubectl get nodes,pods" in result.stderr


@pytest.mark.parametrize("kind", ["PodList", "List"])
def test_an_empty_list_says_that_there_are_none(tmp_path: Path, kind: str) -> None:
    empty = tmp_path / "pods.json"
    empty.write_text(json.dumps({"apiVersion": "v1", "kind": kind, "items": []}))
    cluster = manifests(tmp_path, [node("spot-a")])
    result = evac("replay", "--node", "spot-a", "--cluster", cluster, "--cluster", str(empty))
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "no pod to drain")


def test_without_budgets_in_the_files_the_verdict_says_that_it_is_optimistic(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [node("spot-a"), bare("p", "spot-a")], name="without.json")
    flowing = " ".join(evac("replay", "--node", "spot-a", "--cluster", cluster).stdout.split())
    assert "so this is optimistic 1 pod: all left gracefully" in flowing
    objects = [node("spot-a"), bare("p", "spot-a"), budget("other", {"app": "other"}, maxUnavailable=1)]
    known = manifests(tmp_path, objects, name="with.json")
    assert "optimistic" not in evac("replay", "--node", "spot-a", "--cluster", known).stdout


def test_every_end_of_a_pod_is_in_the_story(tmp_path: Path) -> None:
    ends = [
        bare(f"p{i}", "spot-a", grace=600, annotations=times(1, seconds)) for i, seconds in enumerate((113, 120, 400))
    ]
    cluster = manifests(tmp_path, [node("spot-a"), *ends])
    found = told(evac("replay", "--node", "spot-a", "--cluster", cluster, "--output", "json"))
    ended = {line["subject"] for line in found["journal"] if line["what"] in {"gone", "lost"}}
    assert ended == {f"default/p{i}" for i in range(3)}
