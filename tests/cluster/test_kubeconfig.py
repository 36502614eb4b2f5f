"""A person's own kubeconfig leads into the cluster, with that person's rights."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from controlplane import Api, ControlPlane
from evac.kubeconfig import cluster_of
from lambdas.domain.values.actions import Locate
from lambdas.domain.values.answers import Located
from tests.cluster.rig import CLOCK, ask
from tests.scenes import instance_id, node

pytestmark = pytest.mark.cluster

BY_NAME = Locate(instance_id("spot-a"), ("spot-a",))


def test_a_token_in_the_file_is_used(plane: ControlPlane, api: Api) -> None:
    api.apply(node("spot-a"))
    cluster = cluster_of(str(plane.kubeconfig("admin")), "admin", CLOCK)
    assert isinstance(ask(cluster, BY_NAME)[0], Located)
    cluster.close()


def test_a_plugin_is_run_again_when_its_token_is_refused(plane: ControlPlane, api: Api, tmp_path: Path) -> None:
    api.apply(node("spot-a"))
    turns = tmp_path / "turns"
    plugin = tmp_path / "plugin"
    plugin.write_text(_PLUGIN.format(python=sys.executable, turns=str(turns), token=plane.token("admin")))
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    cluster = cluster_of(_with_plugin(plane, tmp_path, str(plugin)), None, CLOCK)
    assert isinstance(ask(cluster, BY_NAME)[0], Located)
    cluster.close()
    assert turns.read_text() == "||"


def _with_plugin(plane: ControlPlane, folder: Path, command: str) -> str:
    config: dict[str, Any] = json.loads(plane.kubeconfig("admin").read_text())
    version = "client.authentication.k8s.io/v1"
    config["users"][0]["user"] = {"exec": {"apiVersion": version, "command": command, "interactiveMode": "Never"}}
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


_PLUGIN = """#!{python}
import json
with open({turns!r}, "a+") as turns:
    turns.write("|")
    turns.seek(0)
    token = {token!r} if len(turns.read()) > 1 else "too old"
status = {{"token": token}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""
"""The first token that it prints is refused, the next is good."""
