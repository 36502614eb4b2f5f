"""Karpenter as a peer: pinned, asked for by name, and measured only on nodes that are its own."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest

from bench.beside import karpenter_build
from bench.beside.karpenter_objects import claim, is_initialized, launched_as, node_pool
from bench.beside.tools import ALWAYS, PEERS, TOOLS
from tests.scenes import LONG_AGO, node


def test_its_version_is_read_where_it_is_pinned() -> None:
    assert re.fullmatch(r"v\d+\.\d+\.\d+", karpenter_build.version())
    assert karpenter_build.version() in TOOLS["karpenter+evac"].version("1.37")


def test_every_peer_is_made_of_tools_that_do_not_run_unasked() -> None:
    assert {tool for tools in PEERS.values() for tool in tools} == set(TOOLS) - set(ALWAYS)


def test_a_peer_that_nobody_knows_is_refused_before_anything_runs() -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "bench", "D1"],
        env={**os.environ, "PEERS": "karpenter nobody"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, asked.stderr.strip()) == (1, "PEERS names nobody; there are: karpenter")


def test_an_adopted_claim_is_of_the_pool_and_of_the_instance_that_the_notice_names() -> None:
    made = node("spot-1", pods=30)
    made["metadata"]["creationTimestamp"] = LONG_AGO
    status = launched_as(made)["status"]
    assert claim("spot-1")["metadata"]["labels"]["karpenter.sh/nodepool"] == node_pool()["metadata"]["name"]
    assert status["providerID"] == made["spec"]["providerID"]
    assert [it["type"] for it in status["conditions"]] == ["Launched"], "the rest is Karpenter's to say"


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ([], False),
        ([{"type": "Launched", "status": "True"}], False),
        ([{"type": "Initialized", "status": "Unknown"}], False),
        ([{"type": "Launched", "status": "True"}, {"type": "Initialized", "status": "True"}], True),
    ],
)
def test_a_node_is_karpenters_once_it_is_initialized(conditions: list[dict[str, Any]], said: bool) -> None:
    assert is_initialized({"status": {"conditions": conditions}}) is said
