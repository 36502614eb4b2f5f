"""Whose an instance is and whether it is still there, on moto's EC2."""

from typing import Any

import boto3
import pytest
from moto.backends import get_backend

from lambdas.adapters.ec2 import Ec2InstanceDirectory
from tests.integration.conftest import ACCOUNT, REGION

pytestmark = pytest.mark.usefixtures("shared_aws")


def run(ec2: Any, number: int = 1, **tags: str) -> list[str]:
    """Ids of new instances with these tags."""
    specifications = [{"ResourceType": "instance", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
    reservation = ec2.run_instances(
        ImageId="ami-0a1b2c3d4e5f60718",
        MinCount=number,
        MaxCount=number,
        **({"TagSpecifications": specifications} if tags else {}),
    )
    return [instance["InstanceId"] for instance in reservation["Instances"]]


@pytest.mark.parametrize(
    ("tags", "clusters"),
    [
        ({}, set()),
        ({"kubernetes.io/cluster/blue": "owned"}, {"blue"}),
        ({"kubernetes.io/cluster/blue": "shared", "kubernetes.io/cluster/green": "owned"}, {"blue", "green"}),
        ({"aws:eks:cluster-name": "blue"}, {"blue"}),
        ({"eks:cluster-name": "blue"}, {"blue"}),
        ({"eks:eks-cluster-name": "blue"}, {"blue"}),
        ({"eks:cluster-name": "", "Name": "kubernetes.io/cluster/red"}, set()),
    ],
)
def test_an_instance_s_clusters_are_those_its_tags_name(tags: dict[str, str], clusters: set[str]) -> None:
    ec2 = boto3.client("ec2")
    (instance_id,) = run(ec2)
    # By the backend: EC2 lets nobody but AWS itself set aws: tags.
    get_backend("ec2")[ACCOUNT][REGION].create_tags([instance_id], tags)
    found = Ec2InstanceDirectory(ec2).describe([instance_id])
    assert found[instance_id].cluster_names == clusters
    assert found[instance_id].state == "running"
    assert found[instance_id].private_dns_name.endswith(".internal")


def test_an_unknown_id_costs_the_others_nothing() -> None:
    ec2 = boto3.client("ec2")
    (instance_id,) = run(ec2)
    found = Ec2InstanceDirectory(ec2).describe(["i-0a1b2c3d4e5f60718", instance_id, "i-1a2b3c4d"])
    assert set(found) == {instance_id}


def test_nothing_known_is_an_answer_and_nothing_asked_is_no_call() -> None:
    ec2 = boto3.client("ec2")
    assert Ec2InstanceDirectory(ec2).describe(["i-0a1b2c3d4e5f60718"]) == {}
    assert Ec2InstanceDirectory(boto3.client("ec2", endpoint_url="http://127.0.0.1:9")).describe([]) == {}


@pytest.mark.parametrize(("end", "state"), [("stop_instances", "stopped"), ("terminate_instances", "terminated")])
def test_the_state_is_ec2_s_word(end: str, state: str) -> None:
    ec2 = boto3.client("ec2")
    (instance_id,) = run(ec2)
    getattr(ec2, end)(InstanceIds=[instance_id])
    assert Ec2InstanceDirectory(ec2).describe([instance_id])[instance_id].state == state


def test_every_page_is_read() -> None:
    ec2 = boto3.client("ec2")
    ids = run(ec2, 12, Name="worker")
    assert set(Ec2InstanceDirectory(ec2, page_size=5).describe(ids)) == set(ids)


def test_more_ids_than_a_filter_takes_are_asked_for_in_several_calls() -> None:
    ec2 = boto3.client("ec2")
    asked: list[int] = []
    ec2.meta.events.register(
        "provide-client-params.ec2.DescribeInstances",
        lambda params, **_: asked.append(len(params["Filters"][0]["Values"])),
    )
    ids = run(ec2, 3)
    strangers = [f"i-{number:017x}" for number in range(450)]
    assert set(Ec2InstanceDirectory(ec2).describe([*ids, *strangers, *ids])) == set(ids)
    assert asked == [200, 200, 53]
