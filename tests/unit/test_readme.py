"""What the README says is what the code says."""

import json
from pathlib import Path

import pytest

from bench.beside.results import legend
from bench.beside.results import table as table_of
from controlplane import versions
from evac.rbac import Right, rights
from infra.__main__ import table
from lambdas import contract

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("right", rights(), ids=lambda r: f"{r.resource}-{r.verb}")
def test_each_right_stands_in_its_table_with_its_reason(right: Right) -> None:
    kind = f"{right.resource}.{right.group}" if right.group else right.resource
    assert f"| {kind} | {right.verb} | {right.why} |" in README


@pytest.mark.parametrize("name", [contract.ANNOTATION_LET_FINISH, contract.KUBERNETES_GROUP])
def test_names_that_people_type_are_the_codes(name: str) -> None:
    assert name in README


def test_the_context_keys_are_those_that_the_stack_reads() -> None:
    assert table() in README


def test_the_kubernetes_versions_are_those_that_are_tested() -> None:
    assert f"Kubernetes {' and '.join(versions())} (`make test-cluster`" in README


def test_the_figures_side_by_side_are_those_that_were_measured() -> None:
    measured = json.loads((ROOT / "bench" / "results.json").read_text())
    assert table_of(measured) in README
    assert legend(measured) in README
