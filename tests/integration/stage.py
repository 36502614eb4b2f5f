"""The deployed path on moto: queues, table, rules and the function's environment of the synthesized template."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import boto3
from moto.backends import get_backend

from evac.simulator import Simulation, SimulatorOptions
from lambdas.handlers.settings import Deployment, read_deployment
from tests.infra.synth import CLUSTER, of_function, routing, synthesize
from tests.integration.conftest import ACCOUNT, REGION
from tests.scenes import Json, at, deployment, node, spot_notice


@cache
def environment_and_routing() -> tuple[dict[str, Any], dict[str, Any]]:
    """Of the synthesized template: the function's variables (with references), and what carries an event."""
    template = synthesize()
    return of_function(template, "Interruption", "AWS::Lambda::Function")["Environment"]["Variables"], routing(template)


def deploy() -> dict[str, str]:
    """Create the stack's queues, rules and table; the function's environment with their real names."""
    variables, template = environment_and_routing()
    cloudformation = boto3.client("cloudformation")
    cloudformation.create_stack(StackName="evac", TemplateBody=json.dumps(template))
    resources = cloudformation.describe_stack_resources(StackName="evac")["StackResources"]
    names = {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}
    return {name: names[value["Ref"]] if isinstance(value, Mapping) else value for name, value in variables.items()}


@dataclass(slots=True)
class Stage:
    """One deployment, and its deployer's hands."""

    environment: dict[str, str]

    @property
    def deployment(self) -> Deployment:
        return read_deployment(self.environment)

    def put(self, event: Json) -> None:
        """Through EventBridge, as the service that it is from."""
        entry = {
            "Source": event["source"],
            "DetailType": event["detail-type"],
            "Detail": json.dumps(event["detail"]),
            "Time": event["time"],
            "Resources": [],
        }
        boto3.client("events").put_events(Entries=[entry])

    def send(self, *bodies: str) -> None:
        """Straight into the notice queue."""
        for body in bodies:
            boto3.client("sqs").send_message(QueueUrl=self.deployment.queue_url, MessageBody=body)

    def receive(self, url: str = "") -> list[dict[str, Any]]:
        """All that is visible in the queue."""
        found: list[dict[str, Any]] = []
        while (
            batch := boto3.client("sqs")
            .receive_message(
                QueueUrl=url or self.deployment.queue_url,
                MaxNumberOfMessages=10,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
            .get("Messages")
        ):
            found += [dict(message) for message in batch]
        return found

    def batch(self, *bodies: Json | str) -> Json:
        """These bodies, sent and received: the event that Lambda makes of them, in their order."""
        texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
        self.send(*texts)
        return batch_of(sorted(self.receive(), key=lambda message: texts.index(message["Body"])))

    def seconds_until_visible(self) -> Mapping[str, float]:
        """By message id, from moto's own books."""
        queue = get_backend("sqs")[ACCOUNT][REGION].queues[self.deployment.queue_url.rpartition("/")[2]]
        return {message.id: message.visible_at / 1000 - time.time() for message in queue._messages}

    def rejected(self) -> list[dict[str, Any]]:
        """All that was kept as malformed."""
        return self.receive(self.deployment.malformed_queue_url)


def batch_of(messages: Sequence[Mapping[str, Any]]) -> Json:
    """The event that Lambda makes of received messages."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": dict(message["Attributes"]),
                "messageAttributes": {},
                "md5OfBody": message["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:notices",
                "awsRegion": "eu-west-1",
            }
            for message in messages
        ]
    }


def ids_of(batch: Json) -> list[str]:
    """The message ids of a batch event."""
    return [record["messageId"] for record in batch["Records"]]


def an_instance(cluster: str | None = CLUSTER) -> str:
    """A running EC2 instance of this cluster (or of another, or of none); its id."""
    tags = [{"Key": f"kubernetes.io/cluster/{cluster}", "Value": "owned"}] if cluster else []
    ec2: Any = boto3.client("ec2")
    reservation = ec2.run_instances(
        ImageId="ami-0a1b2c3d4e5f60718",
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[{"ResourceType": "instance", "Tags": [*tags, {"Key": "Name", "Value": "worker"}]}],
    )
    return str(reservation["Instances"][0]["InstanceId"])


def a_node(name: str, instance_id: str) -> Json:
    """The node of an instance."""
    return node(name, providerID=f"aws:///eu-west-1b/{instance_id}")


def a_notice_for(instance_id: str, seconds: float = 0, **detail: Any) -> Json:
    """The EventBridge event of a spot notice for the instance."""
    event = spot_notice("any", seconds=seconds)
    return event | {"detail": {"instance-id": instance_id, "instance-action": "terminate"} | detail}


def a_simulation(*objects: Json, now: datetime | None = None, **reclaims: float) -> Simulation:
    """A cluster at the moment of the notice (a second later). `reclaims`: node → seconds (`_` for `-`)."""
    simulation = Simulation(objects, now or at(1), options=SimulatorOptions())
    for name, seconds in reclaims.items():
        simulation.reclaim(name.replace("_", "-"), at(seconds))
    return simulation


def a_cluster(*instance_ids: str) -> Simulation:
    """A node for each instance (spot-0, spot-1, …) with two pods of a Deployment, and room elsewhere."""
    names = {f"spot-{i}": instance_id for i, instance_id in enumerate(instance_ids)}
    nodes = [a_node(name, instance_id) for name, instance_id in names.items()]
    return a_simulation(node("safe"), *nodes, *deployment("web", dict.fromkeys(names, 2), grace=20))
