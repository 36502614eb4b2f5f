import yaml

from infra.stack import stack_name
from lambdas import contract
from tests.infra.synth import Template, assembly, named, resources, synthesize, the_one


def _role_arn(template: Template) -> object:
    return {"Fn::GetAtt": [named(template, "Role", "AWS::IAM::Role"), "Arn"]}


def test_the_role_gets_into_the_cluster_by_group_and_without_an_access_policy(template: Template) -> None:
    assert the_one(template, "AWS::EKS::AccessEntry") == {
        "ClusterName": "demo",
        "PrincipalArn": _role_arn(template),
        "Type": "STANDARD",
        "KubernetesGroups": [contract.KUBERNETES_GROUP],
    }
    assert "AwsAuthEntry" not in template["Outputs"]


def test_a_cluster_in_config_map_mode_gets_a_line_for_aws_auth_instead() -> None:
    template = synthesize(accessEntry="false")
    assert not resources(template, "AWS::EKS::AccessEntry")
    before, role, after = template["Outputs"]["AwsAuthEntry"]["Value"]["Fn::Join"][1]
    assert role == _role_arn(template)
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
        "TopicArn",
        "UndeliveredQueueUrl",
    }
    assert template["Outputs"]["ApplyRbac"]["Value"] == "evac rbac | kubectl apply -f -"
    assert template["Outputs"]["RoleArn"]["Value"] == _role_arn(template)


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
