"""What an empty list says: that there are none of its kind, which a file without any does not."""

import json
from pathlib import Path

import pytest
import yaml

from evac.scenario.manifests import read_scenario
from tests.scenes import node


@pytest.mark.parametrize(
    ("kind", "known"), [("ServiceList", {"Node", "Service"}), ("List", {"Node", "Pod"}), ("PodList", {"Node", "Pod"})]
)
def test_an_empty_list_says_that_there_are_none_of_its_kind(tmp_path: Path, kind: str, known: set[str]) -> None:
    """One of no kind is what `kubectl get pods -A -o json` prints where there are none."""
    documents = [node("spot-a"), {"apiVersion": "v1", "kind": kind, "items": []}]
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    assert read_scenario([str(path)]).known == known


def test_a_list_that_holds_nodes_says_nothing_of_pods(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("spot-a")]}))
    assert read_scenario([str(path)]).known == {"Node"}
