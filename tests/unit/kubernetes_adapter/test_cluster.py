"""The port as a whole, on a server whose answers are written down."""

import logging
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Call, Reply, Response
from lambdas.adapters.kubernetes.cluster import KubernetesCluster
from lambdas.adapters.kubernetes.watching import Watching
from lambdas.domain.values.actions import Action, Announce, Cordon, Delete, Evict, Locate, Mark, Observe
from lambdas.domain.values.answers import Absent, Answer, Conflict, Done, Forbidden, Located, Passing, Refused, Result
from lambdas.domain.values.kubernetes import Node, PodRef
from tests.scenes import NOTICE
from tests.unit.kubernetes_adapter.scripted import REFUSED, Json, Server, listed, pod, refused

CLOCK = SystemClock()
POD = PodRef("default", "web", "uid-web")
GRACE = timedelta(seconds=30)
MARK = Mark("i-0abc", "spot-interruption", None, NOTICE, NOTICE)


def node(name: str = "spot-a", instance: str = "i-0abc", version: int = 5, **spec: Any) -> Json:
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"kind": "Node", "metadata": metadata, "spec": {"providerID": f"aws:///z/{instance}", **spec}}


def answers(server: Server, *actions: Action) -> list[Answer]:
    """Started in turn, answered by the port; nothing comes twice."""
    cluster = KubernetesCluster(server, CLOCK)
    try:
        found = [one for action in actions for one in _answered(cluster, action)]
        assert list(cluster.wait(CLOCK.now())) == []
        return found
    finally:
        cluster.close()


def _answered(cluster: KubernetesCluster, action: Action) -> Sequence[Answer]:
    cluster.start(action)
    until = CLOCK.now() + timedelta(seconds=5)
    while not (found := cluster.wait(until)):
        assert CLOCK.now() < until, f"no answer to {action}"
    return found


def result(server: Server, action: Action) -> Result:
    [answer] = answers(server, action)
    assert answer.action is action
    return answer.result


@pytest.mark.parametrize("action", [Evict(POD, GRACE), Delete(POD, GRACE), Locate("i-0abc", ("spot-a",)), Observe("a")])
def test_a_fault_of_ours_is_an_answer_and_a_line_in_the_log(action: Action, caplog: pytest.LogCaptureFixture) -> None:
    fault = RuntimeError("a fault")
    server = Server(create_pods=fault, delete_pods=fault, get_nodes=fault, list_pods=fault, list_nodes=fault)
    with caplog.at_level(logging.ERROR):
        assert result(server, action) == Refused("a fault in evac: RuntimeError: a fault")
    assert f"a fault in carrying out {type(action).__name__}" in caplog.text


@pytest.mark.parametrize(
    "action",
    [
        Evict(PodRef("default", "../secrets", "uid"), GRACE),
        Delete(PodRef("a/b", "web", "uid"), GRACE),
        Evict(PodRef("default", "web", ""), GRACE),
        Observe("spot-a,metadata.name!=x"),
        Cordon("", MARK),
    ],
)
def test_what_is_no_name_is_refused_before_it_is_asked(action: Action) -> None:
    server = Server()
    assert isinstance(result(server, action), Refused)
    assert [call for call in server.asked if not _is_watched_anyway(call)] == []


def test_names_that_are_none_are_passed_over_in_the_search() -> None:
    server = Server(list_nodes=[listed(5, node())])
    found = result(server, Locate("i-0abc", ("NOT A NAME", "")))
    assert isinstance(found, Located)
    assert found.node.name == "spot-a"
    assert [c.verb for c in server.asked if c.resource == "nodes" and not _is_watched_anyway(c)] == ["list"]


def test_without_leave_to_list_a_node_of_no_known_name_is_absent() -> None:
    server = Server(get_nodes=[refused(404)])
    server_answer = Response(404, {"kind": "Status", "details": {"name": "spot-a", "kind": "nodes"}})
    server._replies["get_nodes"] = [server_answer]
    assert result(server, Locate("i-0abc", ("spot-a",), may_list=False)) == Absent()


def test_an_empty_instance_id_matches_no_node_without_a_provider_id() -> None:
    server = Server(get_nodes=[Response(200, node(instance=""))])
    assert isinstance(result(server, Locate("", ("spot-a",))), Refused)
    assert server.asked == []


def test_nodes_that_nobody_can_read_do_not_hide_the_one_that_is_looked_for() -> None:
    odd: list[Any] = [None, 7, {}, {"spec": None}, {"spec": {"providerID": 7}}, {"metadata": {}, "spec": {}}]
    broken = node("bad", "i-0abc")
    del broken["metadata"]["name"]
    server = Server(list_nodes=[listed(5, *odd, broken, node("good"))])
    found = result(server, Locate("i-0abc"))
    assert isinstance(found, Located)
    assert found.node.name == "good"


@pytest.mark.parametrize(("reply", "expected"), [(REFUSED, Passing), (refused(403, "no"), Forbidden)])
def test_a_search_that_fails_says_why(reply: Reply, expected: type[Result]) -> None:
    assert isinstance(result(Server(get_nodes=[reply]), Locate("i-0abc", ("spot-a",))), expected)
    assert isinstance(result(Server(list_nodes=[reply]), Locate("i-0abc")), expected)


def test_a_node_of_the_right_name_and_another_instance_is_not_the_one() -> None:
    server = Server(get_nodes=[Response(200, node(instance="i-0def"))])
    assert result(server, Locate("i-0abc", ("spot-a",), may_list=False)) == Absent()


def test_a_patch_that_came_too_late_is_built_of_the_node_read_again() -> None:
    first, second = Response(200, node()), Response(200, node(version=6, unschedulable=True))
    server = Server(get_nodes=[first, second], patch_nodes=[refused(409), Response(200, node(version=7))])
    assert result(server, Cordon("spot-a", MARK)) == Done()
    patches = [call.body for call in server.asked if call.verb == "patch"]
    tested = [{op["path"]: op["value"] for op in body if op["op"] == "test"} for body in patches]
    assert [values["/spec/unschedulable"] for values in tested] == [None, True]


def test_a_patch_that_always_comes_too_late_is_given_up() -> None:
    server = Server(get_nodes=[Response(200, node())], patch_nodes=[refused(422, "a test failed")])
    assert isinstance(result(server, Cordon("spot-a", MARK)), Conflict)
    assert server.sent["patch", "nodes"] == 4


def test_a_cordon_takes_the_node_as_it_was_located() -> None:
    server = Server(get_nodes=[Response(200, node())], patch_nodes=[Response(200, node(version=6, unschedulable=True))])
    found = answers(server, Locate("i-0abc", ("spot-a",)), Cordon("spot-a", MARK))
    assert found[1].result == Done()
    assert [c.verb for c in server.asked if c.resource == "nodes" and not _is_watched_anyway(c)] == ["get", "patch"]


def test_an_observation_that_failed_is_answered_so_and_tried_again_by_itself() -> None:
    server = Server(list_pods=[refused(500), listed(5, pod("web", 3))], list_nodes=[listed(5, node())])
    cluster = KubernetesCluster(server, CLOCK)
    [answer] = _answered(cluster, Observe("spot-a"))
    assert isinstance(answer.result, Passing)
    until = CLOCK.now() + timedelta(seconds=5)
    while not cluster.observe().nodes:
        assert CLOCK.now() < until
        cluster.wait(until)
    assert [p.ref.name for p in cluster.observe().nodes["spot-a"].pods] == ["web"]
    cluster.close()


def test_a_node_that_cannot_be_read_is_not_taken_for_one_that_is_gone() -> None:
    server = Server(list_nodes=[listed(5, node(taints=[{"value": "no key"}]))])
    cluster = KubernetesCluster(server, CLOCK)
    [answer] = _answered(cluster, Observe("spot-a"))
    view = cluster.observe().nodes["spot-a"]
    cluster.close()
    assert answer.result == Done()
    assert view.node == Node("spot-a")
    assert "nodes spot-a (KeyError" in view.why


def test_a_node_that_is_not_there_is_none() -> None:
    cluster = KubernetesCluster(Server(), CLOCK)
    _answered(cluster, Observe("spot-a"))
    assert cluster.observe().nodes["spot-a"].node is None
    cluster.close()


def test_budgets_and_services_are_read_once_however_many_nodes_are_observed() -> None:
    server = Server()
    cluster = KubernetesCluster(server, CLOCK, prefetch=True)
    for name in ("spot-a", "spot-b"):
        _answered(cluster, Observe(name))
    server.wait_for(lambda: server.sent["watch", "services"] and server.sent["watch", "poddisruptionbudgets"])
    cluster.close()
    assert (server.sent["list", "poddisruptionbudgets"], server.sent["list", "services"]) == (1, 1)


def test_what_is_wide_is_read_as_soon_as_a_node_is_ours_and_not_before() -> None:
    stranger = Server(list_nodes=[listed(5, node(instance="i-0def"))])
    assert result(stranger, Locate("i-0abc")) == Absent()
    assert stranger.sent == {("list", "nodes"): 1}
    ours = Server(list_nodes=[listed(5, node())])
    cluster = KubernetesCluster(ours, CLOCK)
    _answered(cluster, Locate("i-0abc"))
    ours.wait_for(lambda: ours.sent["list", "services"] and ours.sent["list", "poddisruptionbudgets"])
    cluster.close()


def test_closing_takes_no_longer_for_many_that_hang() -> None:
    go_on = threading.Event()

    class Hanging(Server):
        def ask(self, call: Call) -> Reply:
            go_on.wait(20)
            return REFUSED

    cluster = KubernetesCluster(Hanging(), CLOCK)
    for number in range(16):
        cluster.start(Evict(PodRef("default", f"web-{number}", "uid"), GRACE))
    began = time.monotonic()
    cluster.close()
    took = time.monotonic() - began
    go_on.set()
    assert took < 1


def test_nothing_is_asked_before_something_is_wanted() -> None:
    server = Server()
    cluster = KubernetesCluster(server, CLOCK)
    cluster.close()
    assert server.asked == []


def test_what_is_started_after_closing_is_dropped() -> None:
    server = Server()
    cluster = KubernetesCluster(server, CLOCK)
    cluster.close()
    cluster.start(Announce("spot-a", "uid", "Test", "a test"))
    cluster.close()
    assert list(cluster.wait(CLOCK.now())) == []
    assert server.asked == []


def test_what_begins_to_be_watched_just_after_closing_is_not_watched_for_ever() -> None:
    server = Server()
    watching = Watching(server, CLOCK, lambda: None)
    watching.close()
    watching.observe_node("spot-a")
    watching.observe_workloads("shop", lambda _: False)
    for thread in watching.threads:
        thread.join(5)
    assert list(watching.threads) == []
    assert not [call for call in server.asked if call.verb == "watch"]


def test_where_no_thread_can_be_started_the_answer_comes_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    cluster = KubernetesCluster(Server(), CLOCK)
    monkeypatch.setattr("threading.Thread.start", none_left)
    cluster.start(Evict(POD, GRACE))
    [answer] = cluster.wait(CLOCK.now() + timedelta(seconds=5))
    assert isinstance(answer.result, Passing)
    cluster.close()


def _is_watched_anyway(call: Call) -> bool:
    """Budgets, services and marked nodes, which any node's observation begins with."""
    return call.resource in ("poddisruptionbudgets", "services") or "labelSelector" in call.query
