"""What a person types, on a real cluster, with that person's own kubeconfig."""

import json

import pytest
from typer.testing import CliRunner, Result

from controlplane import Api, ControlPlane
from evac.cli.commands import app
from lambdas.contract import LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS, TAINT_INTERRUPTED
from tests.cluster.drains import budget_is, settle, without_pods
from tests.scenes import Json, bare, budget, deployment, instance_id, node, spot_notice, stateful_set, times

pytestmark = pytest.mark.cluster

QUICK = times(1, 1)


def evac(plane: ControlPlane, *words: str, stdin: str | None = None) -> Result:
    """The command as the cluster's admin."""
    return CliRunner().invoke(app, [*words, "--kubeconfig", str(plane.kubeconfig("admin"))], input=stdin)


def spot(api: Api) -> Json:
    found: Json = api.get("/api/v1/nodes/spot-a")[1]
    return found


def is_marked(found: Json) -> bool:
    taints = [taint["key"] for taint in found["spec"].get("taints", [])]
    labels = {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS} <= set(found["metadata"].get("labels", {}))
    return labels and TAINT_INTERRUPTED in taints and bool(found["spec"].get("unschedulable"))


@pytest.fixture
def shop(api: Api) -> None:
    """Three pods of a Deployment behind maxUnavailable 1, a bare one, and room elsewhere."""
    api.apply(node("spot-a"))
    settle(api, without_pods(deployment("web", {"spot-a": 3}, annotations=QUICK)), ready=3)
    settle(api, [bare("alone", "spot-a", annotations=QUICK)], ready=4)
    settle(api, [budget("web", {"app": "web"}, maxUnavailable=1)])
    budget_is(api, "web", disruptionsAllowed=1)
    api.apply(node("other"))


@pytest.mark.usefixtures("shop")
def test_a_dry_run_tells_what_would_happen_and_changes_nothing(plane: ControlPlane, api: Api) -> None:
    before = spot(api)["spec"], [pod["metadata"]["uid"] for pod in api.items("Pod")]
    result = evac(plane, "replay", "--node", "spot-a", "--dry-run", "--output", "json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["mode"] == "dry-run"
    assert told["totals"]["graceful"] == 4
    assert told["cluster"]["unknown_kinds"] == []
    assert (spot(api)["spec"], [pod["metadata"]["uid"] for pod in api.items("Pod")]) == before


@pytest.mark.usefixtures("shop")
def test_a_replay_drains_the_node_for_real_and_an_undo_takes_the_marks_off(plane: ControlPlane, api: Api) -> None:
    result = evac(plane, "replay", "-", stdin=json.dumps(spot_notice("spot-a")))
    assert result.exit_code == 0, result.output
    assert "4 pods: all left" in result.stdout
    assert f"draining for real: {instance_id('spot-a')}" in result.stderr
    assert not [pod for pod in api.items("Pod") if pod["spec"].get("nodeName") == "spot-a"]
    assert is_marked(spot(api))
    all_nodes = evac(plane, "undo", "--all")
    assert "is being drained right now" in all_nodes.stdout
    assert is_marked(spot(api))
    named = evac(plane, "undo", "spot-a")
    assert named.exit_code == 0, named.output
    found = spot(api)
    assert not found["spec"].get("unschedulable")
    assert TAINT_INTERRUPTED not in [taint["key"] for taint in found["spec"].get("taints", [])]
    assert not {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS} & set(found["metadata"]["labels"])
    assert "nothing of ours" in evac(plane, "undo", "spot-a").stdout


def test_a_node_that_was_cordoned_before_stays_cordoned(plane: ControlPlane, api: Api) -> None:
    api.apply(node("spot-a", unschedulable=True))
    assert evac(plane, "replay", "--node", "spot-a").exit_code == 0
    undone = evac(plane, "undo", "spot-a")
    assert "cordon stays: not ours" in undone.stdout
    assert spot(api)["spec"]["unschedulable"] is True


def test_events_of_other_instances_end_in_wrong_usage_with_the_nodes_that_there_are(
    plane: ControlPlane, api: Api
) -> None:
    api.apply(node("spot-a"))
    result = evac(plane, "replay", "-", stdin=json.dumps(spot_notice("other")))
    assert result.exit_code == 2
    assert f"spot-a ({instance_id('spot-a')})" in result.stderr
    assert not spot(api)["spec"].get("unschedulable")


def test_a_stateful_set_that_the_dry_run_sees_drained_is_drained_in_the_same_order(
    plane: ControlPlane, api: Api
) -> None:
    api.apply(node("spot-a"))
    settle(api, without_pods(stateful_set("db", ["spot-a"] * 2, annotations=QUICK)), ready=2)
    settle(api, [budget("db", {"app": "db"}, maxUnavailable=1)])
    budget_is(api, "db", disruptionsAllowed=1)
    api.apply(node("other"))
    orders = []
    for options in (("--dry-run",), ()):
        result = evac(plane, "replay", "--node", "spot-a", "--output", "json", *options)
        pods = json.loads(result.stdout)["drains"][0]["pods"]
        orders.append([p["name"] for p in sorted(pods, key=lambda p: float(p["signalled_at_s"]))])
    assert orders[0] == orders[1] == ["db-0", "db-1"]
