"""This product: its interruption function, each invocation a process of its own, with exactly the shipped rights."""

import base64
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.beside.aws import batch_of
from bench.beside.world import World
from controlplane import Identity
from evac.rbac import manifests
from lambdas import contract

Json = dict[str, Any]

_ROOT = Path(__file__).parents[2]


class Evac:
    """A batch of messages is handed over at the notice; what is given back is delivered again."""

    identity = Identity(
        "handler",
        user="arn:aws:sts::123456789012:assumed-role/evac/bench",
        groups=(contract.KUBERNETES_GROUP,),
    )
    identities = (identity,)

    def version(self, kubernetes: str) -> str:
        """Of the project, and the commit where git knows it."""
        project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
        commit = _commit()
        return f"{project['version']} ({commit})" if commit else str(project["version"])

    def prepare(self, world: World) -> None:
        """What `evac rbac` prints, and nothing else."""
        for manifest in manifests():
            world.api.apply(manifest)

    def ready(self, world: World) -> None:
        """Nothing is warm: the function starts when the message comes."""

    def drain(self, world: World, nodes: Sequence[str]) -> None:
        """One invocation, and more while a message comes back and the host stands."""
        noticed_at = datetime.fromtimestamp(world.noticed_at, UTC)
        messages = world.account.deliver([_notice(world.instances[node], noticed_at) for node in nodes])
        while messages:
            given_back = self._invoke(world, messages)
            for message in messages:
                if message["MessageId"] not in given_back:
                    world.account.delete(message)
            messages = self._again(world, given_back)

    def _invoke(self, world: World, messages: Sequence[Json]) -> list[str]:
        """The ids of the messages that are to be seen again: all of them, where the process died."""
        certificate = base64.b64encode(world.plane.ca_file.read_bytes()).decode()
        address = {contract.ENV_CLUSTER_ENDPOINT: world.server, contract.ENV_CLUSTER_CA: certificate}
        asked = json.dumps({"event": batch_of(messages), "token": world.plane.token(self.identity.name)})
        command = [sys.executable, "-m", "bench.beside.invocation"]
        code, output = world.processes.run(command, {**world.account.environment, **address}, asked)
        if code:
            return [message["MessageId"] for message in messages]
        answer = json.loads(output.splitlines()[-1])
        world.called_at.append(answer["called_at"] - world.noticed_at)
        given_back: list[str] = answer["given_back"]
        return given_back

    def _again(self, world: World, given_back: Sequence[str]) -> list[Json]:
        """Those messages, once the queue shows them again; none of them once the host is taken."""
        while given_back and not world.is_over():
            if messages := world.account.receive(given_back):
                return messages
            time.sleep(0.5)
        return []


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "-C", str(_ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _notice(instance_id: str, at: datetime) -> Json:
    return {
        "version": "0",
        "id": f"00000000-0000-4000-8000-{instance_id[-12:]:0>12}",
        "detail-type": contract.DETAIL_SPOT_INTERRUPTION,
        "source": contract.SOURCE_EC2,
        "account": "123456789012",
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": "eu-west-1",
        "resources": [f"arn:aws:ec2:eu-west-1b:instance/{instance_id}"],
        "detail": {"instance-id": instance_id, "instance-action": "terminate"},
    }
