"""The JSON document: an interface, so its fields are those that its description names."""

import re
from typing import Any

import pytest

from evac.rendering import document
from tests.unit.cli.typing_it import EXAMPLES, S1, evac, told


def _fields(value: object) -> set[str]:
    match value:
        case dict():
            return set(value) | {field for inner in value.values() for field in _fields(inner)}
        case list():
            return {field for inner in value for field in _fields(inner)}
        case _:
            return set()


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    return told(evac(*S1, "--output", "json"))


def test_every_field_is_described_where_the_schema_is(printed: dict[str, Any]) -> None:
    described = set(re.findall(r"\w+", document.__doc__ or ""))
    assert _fields(printed) <= described


def test_the_top_of_the_document_is_stable(printed: dict[str, Any]) -> None:
    assert list(printed) == [
        "schema",
        "mode",
        "exit_code",
        "zero",
        "settings",
        "cluster",
        "events",
        "totals",
        "drains",
        "workloads",
        "budgets",
        "journal",
    ]
    assert (printed["schema"], printed["mode"]) == ("spot-evac.dev/replay/v1", "simulated")


def test_totals_are_the_sums_of_the_pods(printed: dict[str, Any]) -> None:
    pods = [pod for drain in printed["drains"] for pod in drain["pods"]]
    totals = printed["totals"]
    assert totals["pods"] == len(pods) == totals["graceful"] + totals["lost"]
    ways = {k: v for k, v in totals.items() if k not in {"pods", "graceful", "lost", "cut_short"}}
    assert sum(ways.values()) == totals["graceful"]
    assert ways["evicted"] == sum(1 for pod in pods if pod["departure"] == "evicted")


def test_the_document_is_alone_on_standard_output() -> None:
    result = evac(*S1, "--output", "json")
    assert result.stderr == ""
    assert result.stdout.endswith("}\n")


def test_settings_are_those_of_the_flags() -> None:
    flags = (
        "--margin",
        "7s",
        "--grace-counted",
        "30",
        "--startup",
        "3s",
        "--shutdown",
        "1m",
        "--respect-budgets-to-the-end",
    )
    settings = told(evac(*S1, *flags, "--output", "json"))["settings"]
    assert settings == {
        "margin_s": 7,
        "grace_counted_s": 30,
        "deletes_at_last_safe_moment": False,
        "startup_s": 3,
        "shutdown_s": 60,
    }


def test_wrong_usage_prints_no_half_document() -> None:
    result = evac(
        "replay", str(EXAMPLES / "mixed" / "events.jsonl"), "--cluster", str(EXAMPLES / "s1"), "--output", "json"
    )
    assert (result.exit_code, result.stdout) == (2, "")
