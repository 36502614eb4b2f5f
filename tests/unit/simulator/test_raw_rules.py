"""The simulator's own reading of selectors, quantities, percentages, durations and merge patches."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evac.simulator.controllers.job_indexes import read_indexes, write_indexes
from evac.simulator.durations import read_duration
from evac.simulator.labels import selects
from evac.simulator.objects import kind_of, merged, seconds, written_time
from evac.simulator.quantities import share, share_down, thousandths
from tests.scenes import at

LABELS = {"app": "web", "tier": "front", "cores": "8"}


def term(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "holds"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "web", "tier": "back"}}, False),
        (term("app", "In", "web", "api"), True),
        (term("app", "In", "api"), False),
        (term("app", "NotIn", "api"), True),
        (term("absent", "NotIn", "api"), True),
        (term("absent", "In", "api"), False),
        (term("app", "Exists"), True),
        (term("app", "DoesNotExist"), False),
        (term("absent", "DoesNotExist"), True),
        (term("cores", "Gt", "4"), True),
        (term("cores", "Gt", "8"), False),
        (term("cores", "Lt", "16"), True),
        (term("app", "Gt", "4"), False),
        (term("app", "Resembles", "web"), False),
        ({"matchLabels": {"app": "web"}, **term("tier", "NotIn", "front")}, False),
    ],
)
def test_a_selector_selects_as_the_api_says(selector: dict[str, Any] | None, holds: bool) -> None:
    assert selects(selector, LABELS) is holds


@pytest.mark.parametrize(
    ("quantity", "amount"),
    [
        ("2", 2000), ("100m", 100), ("0.5", 500), ("1.5Gi", 1_610_612_736_000), ("1k", 1_000_000),
        ("128Mi", 134_217_728_000), ("1e3", 1_000_000), ("1u", 1), ("64", 64_000), ("many", 0), ("", 0),
    ],
)  # fmt: skip
def test_quantities_are_read_in_thousandths(quantity: str, amount: int) -> None:
    assert thousandths(quantity) == amount


@pytest.mark.parametrize(
    ("value", "whole", "up", "down"),
    [("25%", 10, 3, 2), ("50%", 3, 2, 1), ("100%", 7, 7, 7), ("0%", 7, 0, 0), ("34%", 3, 2, 1), (2, 10, 2, 2)],
)
def test_percentages_round_as_asked(value: int | str, whole: int, up: int, down: int) -> None:
    assert (share(value, whole), share_down(value, whole)) == (up, down)


@given(st.integers(0, 100), st.integers(0, 500))
def test_a_share_and_the_rest_are_never_less_than_the_whole(percent: int, whole: int) -> None:
    assert share(f"{percent}%", whole) + share_down(f"{100 - percent}%", whole) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10s", 10), ("1m30s", 90), ("250ms", 0.25), ("1h", 3600), ("1.5s", 1.5), ("10", None), ("", None), ("x5s", None)],
)
def test_durations_are_gos(text: str, expected: float | None) -> None:
    assert read_duration(text) == (None if expected is None else timedelta(seconds=expected))


@pytest.mark.parametrize(("grace", "sent"), [(30, 30), (1.9, 1), (0.2, 1), (0, 1), (-4, 1)])
def test_a_grace_is_sent_in_whole_seconds_and_never_none(grace: float, sent: int) -> None:
    assert seconds(timedelta(seconds=grace)) == sent


def test_a_merge_patch_replaces_adds_and_removes() -> None:
    target = {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    assert merged(target, {"a": {"b": None, "c": [3]}, "e": {"f": None}}) == {"a": {"c": [3]}, "d": 4, "e": {}}
    assert target == {"a": {"b": 1, "c": [1, 2]}, "d": 4}


def test_the_api_shows_whole_seconds_cut_off() -> None:
    assert written_time(at(0.999)) == "2026-11-02T03:04:05Z"


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("v1", "Service", "Service"),
        ("serving.knative.dev/v1", "Service", "Service.serving.knative.dev"),
        ("policy/v1beta1", "PodDisruptionBudget", "PodDisruptionBudget"),
        ("argoproj.io/v1alpha1", "Rollout", "Rollout"),
        (None, "Pod", "Pod"),
    ],
)
def test_a_foreign_kind_that_shares_a_name_is_told_apart(api_version: str | None, kind: str, expected: str) -> None:
    assert kind_of({"apiVersion": api_version, "kind": kind}) == expected


@given(st.sets(st.integers(0, 60)))
def test_completed_indexes_are_read_as_they_were_written(indexes: set[int]) -> None:
    assert read_indexes(write_indexes(indexes)) == indexes


def test_completed_indexes_are_written_as_ranges() -> None:
    assert write_indexes({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8"
    assert read_indexes("0-2,x,5") == {0, 1, 2, 5}
