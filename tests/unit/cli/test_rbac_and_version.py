"""The small commands."""

import json

import pytest
import yaml

from evac.cli.version import checked_out_version, installed_version
from evac.rbac import manifests
from tests.unit.cli.typing_it import evac


def test_rbac_prints_what_kubectl_applies() -> None:
    result = evac("rbac")
    assert result.exit_code == 0
    assert list(yaml.safe_load_all(result.stdout)) == manifests()


def test_rbac_prints_json_too() -> None:
    assert json.loads(evac("rbac", "--output", "json").stdout)["items"] == manifests()


def test_the_right_to_delete_can_be_left_out() -> None:
    rules = next(d for d in yaml.safe_load_all(evac("rbac", "--without-delete").stdout) if d["kind"] == "ClusterRole")[
        "rules"
    ]
    assert all("delete" not in rule["verbs"] for rule in rules)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_releases_need_can_be_left_out(form: str) -> None:
    text = evac("rbac", "--no-release", "--output", form).stdout
    printed = json.loads(text)["items"] if form == "json" else list(yaml.safe_load_all(text))
    assert printed == manifests(releases=False)


def test_both_ways_of_asking_give_the_version() -> None:
    assert evac("version").stdout == evac("--version").stdout == f"evac {installed_version()}\n"


def test_a_checkout_knows_its_version_without_being_installed() -> None:
    assert checked_out_version()[0].isdigit()


@pytest.mark.parametrize("words", [[], ["--help"], ["replay", "--help"], ["rbac", "--help"], ["undo", "--help"]])
def test_help_is_help(words: list[str]) -> None:
    result = evac(*words)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: evac")


def test_the_help_of_replay_says_units_defaults_and_examples() -> None:
    text = " ".join(evac("replay", "--help").stdout.split())
    for words in (
        "Default: 10s",
        "Default: 2s",
        "[default: 5s]",
        "[default: 60s]",
        "evac replay examples/s1/events",
        "Exit codes",
        "left gracefully if it had its SIGTERM early enough",
        "with its subfolders",
    ):
        assert words in text
