"""What the adapter does to nodes, as the API server and kubectl see it."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from controlplane import Api, ControlPlane, provide
from lambdas.adapters.kubernetes import KubernetesCluster
from lambdas.adapters.kubernetes.kinds import NODES
from lambdas.adapters.kubernetes.listing import Listed, list_all
from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Action, Announce, Cordon, ExcludeFromLoadBalancers, Locate, Observe, Restore
from lambdas.domain.values.answers import Absent, Done, Located
from lambdas.domain.values.marks import Former, decode_mark
from tests.cluster.rig import ask, connected, grant, mark_of
from tests.scenes import instance_id, node

pytestmark = pytest.mark.cluster

SPOT = "/api/v1/nodes/spot-a"


@pytest.fixture
def cluster(plane: ControlPlane, api: Api) -> Iterator[KubernetesCluster]:
    """The function's own connection, with exactly the shipped role; one node."""
    grant(api)
    api.apply(node("spot-a"))
    with connected(plane) as cluster:
        yield cluster


def spot(api: Api) -> dict[str, Any]:
    """The node as it is."""
    found: dict[str, Any] = api.get(SPOT)[1]
    return found


def taints(api: Api) -> dict[str, str]:
    return {taint["key"]: taint["effect"] for taint in spot(api)["spec"].get("taints", [])}


def bare_node(name: str) -> dict[str, Any]:
    """Nothing in it that may be left out: no labels, no annotations, no taints but the server's own."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def test_a_node_is_found_by_its_name_and_by_its_provider_id(cluster: KubernetesCluster, api: Api) -> None:
    wanted = instance_id("spot-a")
    by_name, by_listing = ask(cluster, Locate(wanted, ("spot-a",), may_list=False), Locate(wanted))
    assert isinstance(by_name, Located)
    assert isinstance(by_listing, Located)
    assert by_name.node.uid == by_listing.node.uid == spot(api)["metadata"]["uid"]


def test_a_node_of_the_name_but_another_instance_is_not_taken_for_it(cluster: KubernetesCluster, api: Api) -> None:
    other = Locate("i-0123456789abcdef0", ("spot-a", "not there", "../../secrets"), may_list=False)
    assert ask(cluster, other) == [Absent()]


def test_a_list_in_pages_is_the_whole_list(cluster: KubernetesCluster, api: Api) -> None:
    names = {f"n-{number}" for number in range(7)}
    for name in names:
        api.apply(node(name))
    listed = list_all(cluster.server, replace(NODES, page=3))
    assert isinstance(listed, Listed)
    assert {seen.value.name for seen in listed.objects if seen.value} == names | {"spot-a"}
    assert cluster.server.sent["list", "nodes"] == 3


def test_a_cordon_sets_all_of_it_in_one_patch(cluster: KubernetesCluster, api: Api) -> None:
    mark = mark_of("spot-a")
    assert ask(cluster, Cordon("spot-a", mark)) == [Done()]
    assert spot(api)["spec"]["unschedulable"] is True
    assert spot(api)["metadata"]["labels"][LABEL_DRAINING] == "true"
    assert taints(api)[TAINT_INTERRUPTED] == "NoSchedule"
    assert decode_mark(spot(api)["metadata"]["annotations"][ANNOTATION_MARK]) == (mark, Former())
    assert cluster.server.sent["patch", "nodes"] == 1


def test_the_taints_of_others_stay(cluster: KubernetesCluster, api: Api) -> None:
    api.apply(node("spot-a", taints=[{"key": "gpu", "value": "a100", "effect": "NoSchedule"}]))
    ask(cluster, Cordon("spot-a", mark_of("spot-a")))
    api.until(lambda: "node.kubernetes.io/unschedulable" in taints(api), what="the lifecycle controller's own taint")
    assert {"gpu", TAINT_INTERRUPTED} <= set(taints(api))


def test_a_node_with_nothing_on_it_is_cordoned(cluster: KubernetesCluster, api: Api) -> None:
    api.apply(bare_node("bare"))
    assert ask(cluster, Cordon("bare", mark_of("bare")), Restore("bare"))[0] == Done()


def test_a_second_cordon_changes_nothing(cluster: KubernetesCluster, plane: ControlPlane, api: Api) -> None:
    ask(cluster, Cordon("spot-a", mark_of("spot-a")))
    first = spot(api)
    with connected(plane) as another:
        assert ask(another, Cordon("spot-a", mark_of("spot-a", "instance-stopping"))) == [Done()]
        assert another.server.sent["patch", "nodes"] == 0
    assert spot(api)["metadata"]["annotations"][ANNOTATION_MARK] == first["metadata"]["annotations"][ANNOTATION_MARK]


def test_a_cordon_that_somebody_was_faster_than_is_built_anew(cluster: KubernetesCluster, api: Api) -> None:
    located = ask(cluster, Locate(instance_id("spot-a"), ("spot-a",)))[0]
    assert isinstance(located, Located)
    api.patch(SPOT, {"spec": {"unschedulable": True}})
    assert ask(cluster, Cordon("spot-a", mark_of("spot-a"))) == [Done()]
    marked = decode_mark(spot(api)["metadata"]["annotations"][ANNOTATION_MARK])
    assert marked is not None
    assert marked[1] == Former(unschedulable=True)


def test_a_node_that_came_under_the_name_of_another_is_read_again(cluster: KubernetesCluster, api: Api) -> None:
    ask(cluster, Locate(instance_id("spot-a"), ("spot-a",)))
    api.apply(node("spot-a"))
    assert ask(cluster, Cordon("spot-a", mark_of("spot-a"))) == [Done()]
    assert spot(api)["spec"]["unschedulable"] is True


def test_a_node_that_is_gone_cannot_be_cordoned(cluster: KubernetesCluster, api: Api) -> None:
    ask(cluster, Locate(instance_id("spot-a"), ("spot-a",)))
    api.delete(SPOT)
    nobody = mark_of("nobody")
    assert ask(cluster, Cordon("spot-a", nobody), Cordon("nobody", nobody), Restore("spot-a")) == [Absent()] * 3


def test_a_restored_node_is_as_it_was(cluster: KubernetesCluster, api: Api) -> None:
    api.until(lambda: "node.kubernetes.io/not-ready" not in taints(api), what="a node that is ready")
    before = spot(api)
    ask(cluster, Cordon("spot-a", mark_of("spot-a")))
    ask(cluster, ExcludeFromLoadBalancers("spot-a"))
    assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS in spot(api)["metadata"]["labels"]
    assert ask(cluster, Restore("spot-a")) == [Done()]
    api.until(lambda: not taints(api), what="the lifecycle controller's taint gone")
    after = spot(api)
    assert after["spec"] == before["spec"]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    assert after["metadata"]["annotations"] == before["metadata"]["annotations"]


def test_what_was_there_before_us_stays(cluster: KubernetesCluster, api: Api) -> None:
    label = LABEL_EXCLUDE_FROM_LOAD_BALANCERS
    api.apply(node("spot-a", labels={label: "mine"}, unschedulable=True))
    ask(cluster, Cordon("spot-a", mark_of("spot-a")))
    ask(cluster, ExcludeFromLoadBalancers("spot-a"))
    assert ask(cluster, Restore("spot-a")) == [Done()]
    assert spot(api)["spec"]["unschedulable"] is True
    assert spot(api)["metadata"]["labels"][label] == "mine"
    assert TAINT_INTERRUPTED not in taints(api)


def test_a_node_without_our_mark_is_not_touched(cluster: KubernetesCluster, api: Api) -> None:
    api.patch(SPOT, {"spec": {"unschedulable": True}})
    api.until(lambda: "node.kubernetes.io/unschedulable" in taints(api), what="the lifecycle controller's taint")
    version = spot(api)["metadata"]["resourceVersion"]
    assert ask(cluster, Restore("spot-a")) == [Done()]
    assert spot(api)["metadata"]["resourceVersion"] == version


def test_a_cordon_and_an_exclusion_side_by_side_both_hold(cluster: KubernetesCluster, api: Api) -> None:
    api.apply(bare_node("bare"))
    actions: list[Action] = [Observe("bare"), Cordon("bare", mark_of("bare")), ExcludeFromLoadBalancers("bare")]
    assert ask(cluster, *actions) == [Done()] * 3
    labels = api.get("/api/v1/nodes/bare")[1]["metadata"]["labels"]
    assert {LABEL_DRAINING, LABEL_EXCLUDE_FROM_LOAD_BALANCERS} <= set(labels)


def test_kubectl_describe_shows_what_is_announced(cluster: KubernetesCluster, plane: ControlPlane, api: Api) -> None:
    uid = spot(api)["metadata"]["uid"]
    announced = Announce("spot-a", uid, "SpotDrained", "30 pods left gracefully, none was lost", "Warning")
    assert ask(cluster, announced) == [Done()]
    kubectl = [str(provide(plane.version) / "kubectl"), "--kubeconfig", str(plane.kubeconfig())]
    described = subprocess.check_output([*kubectl, "describe", "node", "spot-a"], text=True)
    assert "SpotDrained" in described
    assert "30 pods left gracefully, none was lost" in described
    events = json.loads(subprocess.check_output([*kubectl, "get", "events", "-o", "json"], text=True))["items"]
    assert [e["source"]["component"] for e in events if e["reason"] == "SpotDrained"] == ["evac"]
