"""The JSON document: an interface, so its fields are those that its description names."""

import re
from datetime import timedelta
from typing import Any

import pytest

from evac.rendering import document
from evac.replay.hearing import Heard
from evac.scenario.graces import own_graces
from lambdas.domain.values.messages import (
    Fulfilled,
    Gone,
    Ignored,
    LifecycleHook,
    LifecycleLaunch,
    LifecycleTerminate,
    Malformed,
    Message,
    Rebalance,
    ScheduledChange,
)
from lambdas.domain.values.settings import Settings
from tests.scenes import NOTICE, bare
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
        "--budgets",
        "deadline",
        "--release",
        "within",
        "--release-unchecked",
    )
    settings = told(evac(*S1, *flags, "--output", "json"))["settings"]
    assert settings == {
        "margin_s": 7,
        "grace_counted_s": 30,
        "budgets": "deadline",
        "deletes_at_last_safe_moment": True,
        "paces_budgets": False,
        "release": "within",
        "releases_unchecked": True,
        "startup_s": 3,
        "shutdown_s": 60,
    }


def test_without_flags_a_replay_drains_as_the_function_does(printed: dict[str, Any]) -> None:
    default = Settings()
    assert {name: printed["settings"][name] for name in ("margin_s", "grace_counted_s", "budgets", "release")} == {
        "margin_s": default.margin.total_seconds(),
        "grace_counted_s": default.grace_counted.total_seconds(),
        "budgets": default.budgets.value,
        "release": default.release.value,
    }


def test_wrong_usage_prints_no_half_document() -> None:
    result = evac(
        "replay", str(EXAMPLES / "mixed" / "events.jsonl"), "--cluster", str(EXAMPLES / "s1"), "--output", "json"
    )
    assert (result.exit_code, result.stdout) == (2, "")


def test_an_event_that_is_not_acted_on_says_why(printed: dict[str, Any]) -> None:
    ignored, acted_on = printed["events"]["each"]
    assert (ignored["kind"], acted_on["kind"]) == ("rebalance", "interruption")
    assert ignored["reason"].endswith("not acted on")
    assert acted_on["reason"] == ""


HOOK = LifecycleHook("i-1", "workers", "drain", NOTICE)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Ignored("instance state running"), "instance state running: nothing to act on"),
        (Malformed("body: no JSON"), "body: no JSON"),
        (Rebalance("i-1", NOTICE), "rebalance recommendation for i-1"),
        (ScheduledChange(("i-1", "i-2"), NOTICE, NOTICE, "AWS_EC2_X"), "scheduled change AWS_EC2_X of i-1, i-2"),
        (LifecycleTerminate(HOOK), "termination hook drain for i-1: not acted on"),
        (LifecycleLaunch(HOOK), "launch hook drain for i-1: not acted on"),
        (Gone("i-1", "terminated", NOTICE), "instance i-1 is terminated: nothing left to drain"),
        (Fulfilled("i-1", NOTICE), "spot request fulfilled by i-1"),
    ],
)
def test_each_kind_of_message_says_why_nothing_is_done(message: Message, words: str) -> None:
    assert words in Heard("e.json", message).reason


@pytest.mark.parametrize(("grace", "seconds"), [(None, 30), (0, 0), (2**63 - 1, 10**9)])
def test_a_pods_own_grace_is_the_apis_default_where_none_is_given(grace: int | None, seconds: int) -> None:
    pod = bare("p", "spot-a")
    pod["spec"]["terminationGracePeriodSeconds"] = grace
    assert own_graces([pod]) == {("default", "p"): timedelta(seconds=seconds)}
