import base64
from datetime import timedelta
from enum import Enum

import pytest

from infra.__main__ import table
from infra.context import ContextError, Key
from infra.keys import BUDGETS, GRACE_COUNTED_SECONDS, KEYS, MARGIN_SECONDS, RELEASE, RELEASE_UNCHECKED
from infra.settings import Settings
from lambdas.domain.values.settings import BudgetMode, ReleaseMode
from lambdas.domain.values.settings import Settings as DrainSettings
from tests.infra.synth import CA, ENDPOINT

TOPIC = "arn:aws:sns:eu-west-1:123456789012:on-call"

REFUSED = [
    ({}, "clusterName is missing"),
    ({"clusterName": ""}, "clusterName is ''"),
    ({"clusterName": "-shop"}, "clusterName is '-shop'"),
    ({"clusterName": "a" * 101}, "clusterName is "),
    ({"clusterName": "shop\n"}, r"clusterName is 'shop\n'"),
    ({"clustername": "shop"}, "clustername is unknown (its value is 'shop'): type -c clusterName="),
    ({"nonsense": "1"}, "nonsense is unknown"),
    ({"accessEntry": "no"}, "accessEntry is 'no': type true or false"),
    ({"accessEntry": 1}, "accessEntry is 1"),
    ({"clusterEndpoint": ENDPOINT}, "clusterCa is missing beside clusterEndpoint"),
    ({"clusterCa": CA}, "clusterEndpoint is missing beside clusterCa"),
    ({"clusterEndpoint": "http://x", "clusterCa": CA}, "clusterEndpoint is 'http://x'"),
    ({"clusterEndpoint": ENDPOINT, "clusterCa": "not base64"}, "clusterCa is 'not base64'"),
    ({"clusterEndpoint": ENDPOINT, "clusterCa": "A"}, "clusterCa is 'A'"),
    ({"clusterEndpoint": ENDPOINT, "clusterCa": base64.b64encode(b"key").decode()}, "clusterCa is "),
    ({"alarmTopicArn": "on-call"}, "alarmTopicArn is 'on-call'"),
    ({"alarmTopicArn": f"{TOPIC}.fifo"}, "not FIFO"),
    ({"alarmTopicArn": TOPIC, "alarmEmail": "a@b.co"}, "alarmEmail is 'a@b.co'"),
    ({"alarmTopicArn": TOPIC, "account": "123456789012", "region": "us-east-1"}, "topic in us-east-1"),
    ({"alarmEmail": "nobody"}, "alarmEmail is 'nobody'"),
    ({"subnetIds": "subnet-0a1b2c3d"}, "securityGroupIds is missing beside subnetIds"),
    ({"securityGroupIds": ["sg-0a1b2c3d"]}, "subnetIds is missing beside securityGroupIds"),
    ({"subnetIds": "vpc-0a1b2c3d"}, "subnetIds is 'vpc-0a1b2c3d'"),
    ({"subnetIds": "subnet-0a1b2c3d,subnet-0a1b2c3d"}, "different subnet ids"),
    ({"subnetIds": []}, "subnetIds is []"),
    ({"subnetIds": [1]}, "subnetIds is [1]"),
    ({"memorySize": "128"}, "memorySize is '128'"),
    ({"memorySize": 1769.5}, "memorySize is 1769.5"),
    ({"memorySize": True}, "memorySize is True"),
    ({"memorySize": "-512"}, "memorySize is '-512'"),
    ({"maxConcurrency": 1}, "maxConcurrency is 1: type a whole number from 2 to 1000"),
    ({"marginSeconds": 60}, "marginSeconds is 60"),
    ({"graceCountedSeconds": 115}, "graceCountedSeconds is 115"),
    ({"budgets": "Pace"}, "budgets is 'Pace': type pace, deadline or never"),
    ({"budgets": False}, "budgets is False"),
    ({"release": "some"}, "release is 'some': type within, enough, all or off"),
    ({"release": "off\n"}, r"release is 'off\n'"),
    ({"releaseUnchecked": "yes"}, "releaseUnchecked is 'yes': type true or false"),
    ({"reserveSweeper": 0}, "reserveSweeper is 0: type true or false"),
    (
        {"paceBudgets": "false"},
        "paceBudgets is no more (its value is 'false'): type -c budgets=deadline instead of false",
    ),
    ({"deleteAtLastSafeMoment": False}, "no more (its value is False): type -c budgets=never instead of false"),
    ({"dryRun": "yes"}, "dryRun is 'yes'"),
    ({"logRetentionDays": 31}, "logRetentionDays is 31"),
    ({"account": 123456789012}, "account is 123456789012"),
    ({"account": "123456789012"}, "region is missing beside account"),
    ({"region": "eu-west-1"}, "account is missing beside region"),
]


@pytest.mark.parametrize(("context", "said"), REFUSED, ids=lambda case: str(case)[:60])
def test_what_cannot_work_is_refused_in_one_line_that_names_the_key_and_the_cure(
    context: dict[str, object], said: str
) -> None:
    whole = (
        context
        if any(key.lower() == "clustername" for key in context) or not context
        else {
            "clusterName": "shop",
            **context,
        }
    )
    with pytest.raises(ContextError) as refusal:
        Settings.from_context(whole)
    message = str(refusal.value)
    assert said in message
    assert ": type " in message
    assert "\n" not in message


def test_text_from_the_command_line_and_json_from_a_file_mean_the_same() -> None:
    typed = Settings.from_context(
        {"clusterName": "shop", "accessEntry": "false", "memorySize": "512", "dryRun": "true"}
        | {"subnetIds": "subnet-0a1b2c3d, subnet-0f9e8d7c", "securityGroupIds": "sg-0a1b2c3d"}
    )
    stored = Settings.from_context(
        {"clusterName": "shop", "accessEntry": False, "memorySize": 512, "dryRun": True}
        | {"subnetIds": ["subnet-0a1b2c3d", "subnet-0f9e8d7c"], "securityGroupIds": ["sg-0a1b2c3d"]}
    )
    assert typed == stored


def test_context_of_the_cdk_itself_passes() -> None:
    theirs = {
        "@aws-cdk/core:validateAgainstDefaultRules": True,
        "aws:cdk:bundling-stacks": ["**"],
        "aws-cdk:enableDiffNoFail": "true",
        "availability-zones:account=1:region=eu-west-1": [],
        "acknowledged-issue-numbers": [1],
        "cli-telemetry": False,
    }
    assert Settings.from_context({"clusterName": "shop", **theirs}).cluster_name == "shop"


def test_a_key_that_is_null_is_a_key_that_is_not_given() -> None:
    assert Settings.from_context({"clusterName": "shop", "alarmEmail": None}).alarm_email is None


@pytest.mark.parametrize("key", [key for key in KEYS if key.name != "clusterCa"], ids=lambda key: key.name)
def test_every_example_is_accepted(key: object) -> None:
    (same,) = [one for one in KEYS if one is key]
    same.read(same.example)


def test_the_readme_table_has_a_line_for_each_key() -> None:
    lines = table().splitlines()
    assert [line.split("`")[1] for line in lines[2:]] == [key.name for key in KEYS]
    assert all(line.count("|") == 4 for line in lines)


def test_defaults_that_are_the_functions_are_told_as_the_function_has_them() -> None:
    assert f"Without it {DrainSettings().margin / timedelta(seconds=1):.0f}." in MARGIN_SECONDS.help
    assert f"Without it {DrainSettings().grace_counted / timedelta(seconds=1):.0f}." in GRACE_COUNTED_SECONDS.help
    assert f"Without it {DrainSettings().budgets.value}." in BUDGETS.help
    assert f"Without it {DrainSettings().release.value}." in RELEASE.help
    assert f"Without it {str(DrainSettings().releases_unchecked).lower()}." in RELEASE_UNCHECKED.help


@pytest.mark.parametrize(("key", "modes"), [(BUDGETS, BudgetMode), (RELEASE, ReleaseMode)], ids=["budgets", "release"])
def test_each_mode_of_a_drain_can_be_typed_and_is_told_apart(key: Key[str | None], modes: type[Enum]) -> None:
    for mode in modes:
        assert key.read(mode.value) == mode.value
        assert f"{mode.value}: " in key.help
        assert mode.value in key.expects
