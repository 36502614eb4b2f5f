"""cfn-lint and cdk-nag, over the variants that differ in what they deploy."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, aws_sqs
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from infra import nag
from tests.infra.synth import CA, ENDPOINT, Template, assembly, synthesize

VARIANTS: dict[str, dict[str, object]] = {
    "defaults": {},
    "everything made": {
        "subnetIds": "subnet-0a1b2c3d",
        "securityGroupIds": "sg-0a1b2c3d",
        "alarmEmail": "a@b.co",
        "account": "123456789012",
        "region": "eu-west-1",
    },
    "everything given": {
        "accessEntry": False,
        "clusterEndpoint": ENDPOINT,
        "clusterCa": CA,
        "reserveSweeper": False,
        "alarmTopicArn": "arn:aws:sns:eu-west-1:123456789012:on-call",
    },
}
variants = pytest.mark.parametrize("context", VARIANTS.values(), ids=VARIANTS.keys())


@variants
def test_cfn_lint_finds_nothing(context: dict[str, object]) -> None:
    template = json.dumps(synthesize(**context))
    found = lint(template, config=ManualArgs(regions=["eu-west-1", "us-east-1"]))
    assert [f"{it.rule.id} {it.message} {it.path}" for it in found] == []


@variants
def test_cdk_nag_finds_nothing(context: dict[str, object]) -> None:
    with assembly(**context) as made:
        assert nag.findings(made) == []


def test_cdk_nag_is_really_asked(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), analytics_reporting=False)
    aws_sqs.Queue(Stack(app, "Careless"), "Queue")
    nag.check(app)
    with pytest.raises(RuntimeError, match=nag.FAILED):
        app.synth()


def _suppressions(template: Template) -> set[tuple[str, str]]:
    def of(resource: dict[str, Any]) -> list[dict[str, str]]:
        rules: list[dict[str, str]] = resource.get("Metadata", {}).get("cdk_nag", {}).get("rules_to_suppress", [])
        return rules

    return {(rule["id"], rule["reason"]) for it in template["Resources"].values() for rule in of(it)}


@variants
def test_only_these_two_findings_are_acknowledged_each_with_its_reason(context: dict[str, object]) -> None:
    found = dict(_suppressions(synthesize(**context)))
    assert set(found) == {"AwsSolutions-SQS3", "AwsSolutions-IAM5[Resource::*]"}
    assert "EventBridge rules' targets" in found["AwsSolutions-SQS3"]
    assert "ec2:DescribeInstances" in found["AwsSolutions-IAM5[Resource::*]"]


def test_the_reason_for_any_resource_mentions_interfaces_only_where_there_are_some() -> None:
    outside, inside = _suppressions(synthesize()), _suppressions(synthesize(**VARIANTS["everything made"]))
    assert not any("interfaces" in reason for _, reason in outside)
    assert any("interfaces" in reason for _, reason in inside)
