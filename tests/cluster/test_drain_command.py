"""`evac drain` and `evac undo` by a person's own kubeconfig, on the real control plane."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from controlplane import Api, ControlPlane, provide
from evac.cli.commands import app
from lambdas.contract import ANNOTATION_MARK, LABEL_DRAINING, LABEL_RELEASED, TAINT_INTERRUPTED
from lambdas.domain.values.releases import DELETION_COST
from tests.cluster.drains import budget_is, is_ready, pods, ready_counts, settle, without_pods
from tests.scenes import Json, bare, budget, deployment, job, node, times

pytestmark = pytest.mark.cluster

QUICK = times(1, 1)
REPLICAS = 8
ROOT = Path(__file__).parents[2]


def evac(plane: ControlPlane, *words: str) -> Result:
    """The command as the cluster's admin."""
    return CliRunner().invoke(app, [*words, "--kubeconfig", str(plane.kubeconfig("admin"))])


def told(result: Result) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def the_node(api: Api, name: str = "spot-a") -> Json:
    found: Json = api.get(f"/api/v1/nodes/{name}")[1]
    return found


def on(api: Api, name: str = "spot-a") -> list[str]:
    """The pods on a node that are not on their way out."""
    found = [p for p in pods(api) if p["spec"].get("nodeName") == name and "deletionTimestamp" not in p["metadata"]]
    return [p["metadata"]["name"] for p in found]


def shop(api: Api, annotations: dict[str, str] = QUICK, **limits: Any) -> None:
    """Pods of a Deployment on spot-a behind a budget, and then room elsewhere."""
    api.apply(node("spot-a"))
    settle(api, without_pods(deployment("web", {"spot-a": REPLICAS}, annotations=annotations)), ready=REPLICAS)
    settle(api, [budget("web", {"app": "web"}, **(limits or {"maxUnavailable": 1}))])
    budget_is(api, "web", expectedPods=REPLICAS, currentHealthy=REPLICAS)
    api.apply(node("other"))
    api.until(lambda: not the_node(api, "other")["spec"].get("taints"), timedelta(seconds=30))


def test_without_a_deadline_no_replica_goes_missing_and_the_budget_is_never_exceeded(
    plane: ControlPlane, api: Api
) -> None:
    shop(api)
    with ready_counts(api, "app=web") as counts:
        result = evac(plane, "drain", "spot-a", "--output", "json")
    assert result.exit_code == 0, result.output
    [record] = told(result)["drains"]
    assert (record["ending"], record["reason"], record["reclaim_at_s"]) == ("drained", "maintenance", None)
    assert {pod["departure"] for pod in record["pods"]} == {"evicted"}
    assert len(record["pods"]) == REPLICAS
    assert min(counts) >= REPLICAS
    assert not on(api)
    mark = json.loads(the_node(api)["metadata"]["annotations"][ANNOTATION_MARK])
    assert (mark["reason"], mark["reclaimAt"]) == ("maintenance", None)


def test_without_releases_the_budget_is_kept_to_the_pod(plane: ControlPlane, api: Api) -> None:
    shop(api)
    with ready_counts(api, "app=web") as counts:
        result = evac(plane, "drain", "spot-a", "--release", "off", "--output", "json")
    assert result.exit_code == 0, result.output
    assert told(result)["totals"]["evicted"] == REPLICAS
    assert min(counts) >= REPLICAS - 1


def test_within_a_deadline_what_its_budget_holds_is_deleted_in_time(plane: ControlPlane, api: Api) -> None:
    shop(api, maxUnavailable=0)
    result = evac(
        plane, "drain", "spot-a", "--within", "15s", "--grace-counted", "5s", "--release", "off", "--output", "json"
    )
    assert result.exit_code == 0, result.output
    [record] = told(result)["drains"]
    assert {pod["departure"] for pod in record["pods"]} == {"deleted_against_budget"}
    assert all(4.5 <= pod["signalled_at_s"] <= 7 for pod in record["pods"])
    assert record["ended_at_s"] < 15


def test_a_dry_run_changes_nothing(plane: ControlPlane, api: Api) -> None:
    shop(api)
    before = the_node(api)["spec"], sorted(pod["metadata"]["uid"] for pod in pods(api))
    result = evac(plane, "drain", "spot-a", "--dry-run", "--output", "json")
    assert result.exit_code == 0, result.output
    assert told(result)["mode"] == "dry-run"
    assert told(result)["totals"]["graceful"] == REPLICAS
    assert (the_node(api)["spec"], sorted(pod["metadata"]["uid"] for pod in pods(api))) == before


def test_a_node_without_a_provider_id_is_drained_and_undone_by_its_name(plane: ControlPlane, api: Api) -> None:
    plain = node("plain")
    del plain["spec"]["providerID"]
    api.apply(plain)
    settle(api, [bare("alone", "plain", annotations=QUICK)], ready=1)
    assert evac(plane, "drain", "plain").exit_code == 0
    found = the_node(api, "plain")
    assert found["spec"]["unschedulable"] is True
    assert json.loads(found["metadata"]["annotations"][ANNOTATION_MARK])["instance"] == "plain"
    result = evac(plane, "undo", "plain")
    assert result.exit_code == 0, result.output
    found = the_node(api, "plain")
    assert not found["spec"].get("unschedulable")
    assert LABEL_DRAINING not in found["metadata"]["labels"]
    assert TAINT_INTERRUPTED not in [taint["key"] for taint in found["spec"].get("taints", [])]


def test_kubectl_runs_it_as_a_plugin(plane: ControlPlane, api: Api, tmp_path: Path) -> None:
    api.apply(node("spot-a"))
    plugin = tmp_path / "kubectl-evac"
    plugin.write_text(f"#!{sys.executable}\nfrom evac.cli import kubectl\nkubectl()\n")
    plugin.chmod(0o755)
    kubeconfig = str(plane.kubeconfig("admin"))
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    command = [str(provide(plane.version) / "kubectl"), "evac", "drain", "spot-a", "--kubeconfig", kubeconfig]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "spot-a is empty and stays cordoned" in " ".join(done.stdout.split())
    assert the_node(api)["spec"]["unschedulable"] is True


def test_a_job_is_waited_for_until_it_has_finished(plane: ControlPlane, api: Api) -> None:
    api.apply(node("spot-a"))
    settle(api, without_pods(job("import", "spot-a", annotations=times(1, 1, completes=12))), ready=1)
    result = evac(plane, "drain", "spot-a", "--output", "json")
    assert result.exit_code == 0, result.output
    [pod] = told(result)["drains"][0]["pods"]
    assert pod["departure"] == "finished"


def test_broken_off_it_says_what_is_left_and_an_undo_gives_everything_back(plane: ControlPlane, api: Api) -> None:
    shop(api, times(10, 1))
    command = [sys.executable, "-m", "evac", "drain", "spot-a", "--kubeconfig", str(plane.kubeconfig("admin"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        api.until(lambda: pods(api, LABEL_RELEASED), timedelta(seconds=30))
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    text = " ".join(errors.split())
    assert f"interrupted: spot-a still has {REPLICAS} pods" in text
    assert "evac drain spot-a goes on from here; to take it back: evac undo spot-a" in text
    result = evac(plane, "undo", "spot-a")
    assert result.exit_code == 0, result.output
    assert "released pod" in result.stdout
    api.until(lambda: len(pods(api)) == REPLICAS, timedelta(seconds=30))
    left = pods(api)
    assert all(is_ready(pod) and pod["spec"]["nodeName"] == "spot-a" for pod in left)
    assert not [
        p for p in left if LABEL_RELEASED in p["metadata"]["labels"] or not p["metadata"].get("ownerReferences")
    ]
    assert not [p for p in left if DELETION_COST in p["metadata"]["annotations"]]
    assert not the_node(api)["spec"].get("unschedulable")
