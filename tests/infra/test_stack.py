import pytest
import yaml

from infra.stack import stack_name
from lambdas import contract
from tests.infra.synth import Template, assembly, named, resources, synthesize


def _role_arn(template: Template, whose: str) -> object:
    return {"Fn::GetAtt": [named(template, f"{whose}Role", "AWS::IAM::Role"), "Arn"]}


def test_each_role_gets_into_the_cluster_by_group_and_without_an_access_policy(template: Template) -> None:
    entries = list(resources(template, "AWS::EKS::AccessEntry").values())
    assert entries == [
        {
            "ClusterName": "demo",
            "PrincipalArn": _role_arn(template, whose),
            "Type": "STANDARD",
            "KubernetesGroups": [contract.KUBERNETES_GROUP],
        }
        for whose in ("Interruption", "Sweeper")
    ]
    assert not [name for name in template["Outputs"] if "AwsAuth" in name]


@pytest.mark.parametrize(("output", "whose"), [("AwsAuthEntry", "Interruption"), ("AwsAuthEntrySweeper", "Sweeper")])
def test_a_cluster_in_config_map_mode_gets_lines_for_aws_auth_instead(output: str, whose: str) -> None:
    template = synthesize(accessEntry="false")
    assert not resources(template, "AWS::EKS::AccessEntry")
    before, role, after = template["Outputs"][output]["Value"]["Fn::Join"][1]
    assert role == _role_arn(template, whose)
    (entry,) = yaml.safe_load(f"{before}arn:aws:iam::123456789012:role/evac{after}")
    assert entry == {
        "rolearn": "arn:aws:iam::123456789012:role/evac",
        "username": "spot-evac:{{SessionName}}",
        "groups": [contract.KUBERNETES_GROUP],
    }


def test_outputs_name_what_commands_ask_for(template: Template) -> None:
    assert set(template["Outputs"]) == {
        "ApplyRbac",
        "FunctionName",
        "LedgerTableName",
        "LogGroupName",
        "QueueUrl",
        "RejectedQueueUrl",
        "RoleArn",
        "SweeperFunctionName",
        "SweeperLogGroupName",
        "SweeperRoleArn",
        "TopicArn",
        "UndeliveredQueueUrl",
    }
    assert template["Outputs"]["ApplyRbac"]["Value"] == "evac rbac | kubectl apply -f -"
    assert template["Outputs"]["RoleArn"]["Value"] == _role_arn(template, "Interruption")


def test_destroying_the_stack_leaves_nothing(template: Template) -> None:
    kept = [
        name for name, resource in template["Resources"].items() if resource.get("DeletionPolicy", "Delete") != "Delete"
    ]
    assert kept == []


def test_the_template_is_the_same_for_any_account_and_region_until_they_are_given(template: Template) -> None:
    with assembly() as anywhere:
        assert anywhere.stacks[0].environment.account == "unknown-account"
    with assembly(account="123456789012", region="eu-west-1") as pinned:
        assert pinned.stacks[0].environment.name == "aws://123456789012/eu-west-1"
    assert synthesize() == template


def test_each_cluster_has_a_stack_of_its_own() -> None:
    assert stack_name("shop-prod") == "evac-shop-prod"
    names = {stack_name(cluster) for cluster in ("a-b", "a_b", "a-b-", "a__b", "a_-b")}
    assert len(names) == 5
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


def test_the_longest_cluster_name_fits_into_a_stack_name() -> None:
    assert len(stack_name("_" * 100)) <= 128
