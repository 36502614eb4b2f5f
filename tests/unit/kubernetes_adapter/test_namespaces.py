"""What is read of a namespace before anything is released there, on a server whose answers are written down."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import namespaces
from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, Trouble
from lambdas.adapters.kubernetes.cluster import KubernetesCluster
from lambdas.adapters.kubernetes.guard import BINDING, POLICY
from lambdas.domain.values.actions import Action, CheckGuard, Cordon, Evict, Mark, ObserveWorkloads
from lambdas.domain.values.answers import Answer, Done, Forbidden, Passing, Refused, Unknown
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.observation import Freshness, Listing, NamespaceView
from tests.scenes import NOTICE
from tests.unit.kubernetes_adapter.scripted import BROKEN, REFUSED, Json, Server, listed, pod, refused

CLOCK = SystemClock()
SHOP = ObserveWorkloads("shop")
ONCE = {
    "daemonsets.apps",
    "jobs.batch",
    "replicationcontrollers",
    "networkpolicies.networking.k8s.io",
    "resourcequotas",
    "horizontalpodautoscalers.autoscaling",
    "persistentvolumeclaims",
}
WATCHED = {"pods", "deployments.apps", "replicasets.apps"}


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "_FIRST_PAUSE", 0.01)


@contextmanager
def connected(server: Server) -> Iterator[KubernetesCluster]:
    cluster = KubernetesCluster(server, CLOCK)
    try:
        yield cluster
    finally:
        cluster.close()


def ask(cluster: KubernetesCluster, *actions: Action, within: float = 5) -> list[Answer]:
    for action in actions:
        cluster.start(action)
    answers: list[Answer] = []
    until = CLOCK.now() + timedelta(seconds=within)
    while len(answers) < len(actions):
        assert CLOCK.now() < until, "no answer"
        answers += cluster.wait(until)
    return answers


def until(cluster: KubernetesCluster, holds: Callable[[NamespaceView], object]) -> NamespaceView:
    end = CLOCK.now() + timedelta(seconds=5)
    while not holds(view := cluster.observe().namespaces.get("shop", NamespaceView())):
        assert CLOCK.now() < end, f"never: {view}"
        cluster.wait(end)
    return view


def listings(view: NamespaceView) -> dict[str, Listing[Any]]:
    found: dict[str, Listing[Any]] = {
        "pods": view.pods,
        "deployments": view.deployments,
        "replicasets": view.replica_sets,
        **view.selecting,
    }
    return found | {"resourcequotas": view.quotas, "hpa": view.autoscalers, "persistentvolumeclaims": view.claims}


def quota(name: str) -> Json:
    return {"metadata": {"name": name, "namespace": "shop", "uid": name}, "status": {"hard": {"pods": "3"}}}


def test_each_kind_is_listed_once_in_the_namespace_alone_and_three_are_watched() -> None:
    server = Server()
    with connected(server) as cluster:
        assert [answer.result for answer in ask(cluster, SHOP)] == [Done()]
        view = until(cluster, lambda v: all(x.freshness is Freshness.CURRENT for x in listings(v).values()))
        server.wait_for(lambda: sum(c.verb == "watch" for c in server.asked) == 3, "three watches")
    assert len(listings(view)) == 10
    assert Counter(c.resource for c in server.asked if c.verb == "list") == Counter(ONCE | WATCHED)
    assert {c.resource for c in server.asked if c.verb == "watch"} == WATCHED
    assert all("/namespaces/shop/" in call.path for call in server.asked)
    of_pods = [call.query["labelSelector"] for call in server.asked if call.resource == "pods"]
    assert of_pods == ["pod-template-hash"] * 2


def test_what_is_pending_shows_from_the_start_and_each_listing_as_soon_as_it_is_there() -> None:
    gate = threading.Event()
    server = Held(gate, "resourcequotas")
    with connected(server) as cluster:
        cluster.start(SHOP)
        view = until(cluster, lambda v: sum(x.freshness is Freshness.CURRENT for x in listings(v).values()) == 9)
        assert view.quotas == Listing()
        gate.set()
        until(cluster, lambda v: v.quotas.freshness is Freshness.CURRENT)


class Held(Server):
    """Lists of one resource wait for the gate."""

    def __init__(self, gate: threading.Event, resource: str, **replies: Sequence[Reply] | Exception) -> None:
        super().__init__(**replies)
        self._gate, self._resource = gate, resource

    def ask(self, call: Call) -> Reply:
        reply = super().ask(call)
        if call.verb == "list" and call.resource == self._resource:
            self._gate.wait(5)
        return reply


def test_asked_again_what_is_listed_once_is_listed_afresh_and_what_is_watched_is_not() -> None:
    server = Server(list_resourcequotas=[listed(1, quota("first")), listed(2, quota("second"))])
    with connected(server) as cluster:
        ask(cluster, SHOP)
        ask(cluster, SHOP)
        assert [q.name for q in cluster.observe().namespaces["shop"].quotas.items] == ["second"]
    asked = Counter(c.resource for c in server.asked if c.verb == "list")
    assert {name for name, times in asked.items() if times == 2} == ONCE
    assert {name for name, times in asked.items() if times == 1} == WATCHED


@pytest.mark.parametrize(("status", "why"), [(403, "may not list"), (404, "no kind of this API server")])
def test_what_may_not_be_read_or_is_no_kind_is_told_and_harms_no_other(status: int, why: str) -> None:
    server = Server(**{"list_jobs.batch": [refused(status)]})
    with connected(server) as cluster:
        assert [answer.result for answer in ask(cluster, SHOP)] == [Done()]
        view = cluster.observe().namespaces["shop"]
    assert view.selecting["jobs"].freshness is Freshness.UNREADABLE
    assert why in view.selecting["jobs"].why
    assert "jobs.batch" in view.selecting["jobs"].why
    others = [listing for name, listing in listings(view).items() if name != "jobs"]
    assert {listing.freshness for listing in others} == {Freshness.CURRENT}


@pytest.mark.parametrize("resource", ["jobs.batch", "deployments.apps"])
@pytest.mark.parametrize("trouble", [refused(500), refused(429), BROKEN, REFUSED])
def test_a_list_that_fails_in_passing_is_tried_again(trouble: Reply, resource: str) -> None:
    server = Server(**{f"list_{resource}": [trouble, trouble, listed(1)]})
    with connected(server) as cluster:
        assert [answer.result for answer in ask(cluster, SHOP)] == [Done()]
        seen = listings(cluster.observe().namespaces["shop"])
        assert seen[resource.partition(".")[0]].freshness is Freshness.CURRENT
    assert Counter(c.resource for c in server.asked if c.verb == "list")["resourcequotas"] == 1


def test_a_list_that_keeps_failing_is_the_answer_and_stays_pending() -> None:
    server = Server(list_resourcequotas=[refused(500, "etcd is away")])
    with connected(server) as cluster:
        [answer] = ask(cluster, SHOP)
        assert isinstance(answer.result, Passing)
        assert "etcd is away" in answer.result.message
        view = cluster.observe().namespaces["shop"]
    assert view.quotas == Listing()
    assert view.claims.freshness is Freshness.CURRENT


def test_a_list_without_an_answer_is_not_waited_for_twice() -> None:
    server = Server(list_resourcequotas=[Failure(Trouble.SILENT, "no answer in time")])
    with connected(server) as cluster:
        [answer] = ask(cluster, SHOP)
    assert answer.result == Unknown("no answer in time")
    assert server.sent["list", "resourcequotas"] == 1


def test_it_is_done_only_when_what_is_watched_has_its_first_list() -> None:
    server = Server(**{"list_deployments.apps": [refused(500, "etcd is away")]})
    with connected(server) as cluster:
        for _ in range(2):
            [answer] = ask(cluster, SHOP)
            assert isinstance(answer.result, Passing)
        assert cluster.observe().namespaces["shop"].deployments.freshness is Freshness.PENDING


def test_what_is_watched_and_may_not_be_read_is_the_answer() -> None:
    server = Server(**{"list_replicasets.apps": [refused(403)]})
    with connected(server) as cluster:
        [answer] = ask(cluster, SHOP)
        assert isinstance(answer.result, Forbidden)
        until(cluster, lambda v: v.replica_sets.freshness is Freshness.UNREADABLE)


def test_an_object_that_cannot_be_read_makes_its_kind_unreadable_and_is_named() -> None:
    odd = {**quota("odd"), "status": {"hard": {"pods": "many"}}}
    server = Server(list_resourcequotas=[listed(1, quota("good"), odd)])
    with connected(server) as cluster:
        assert [answer.result for answer in ask(cluster, SHOP)] == [Done()]
        seen = cluster.observe().namespaces["shop"].quotas
    assert (seen.items, seen.freshness) == ((), Freshness.UNREADABLE)
    assert "shop/odd" in seen.why


def test_a_name_that_is_none_is_refused_before_anything_is_asked() -> None:
    server = Server()
    with connected(server) as cluster:
        [answer] = ask(cluster, ObserveWorkloads("../kube-system"))
        assert isinstance(answer.result, Refused)
        assert cluster.observe().namespaces == {}
    assert server.asked == []


def test_without_another_thread_the_namespace_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    with connected(server) as cluster:
        monkeypatch.setattr(cluster._listings, "submit", lambda _: False)
        assert [answer.result for answer in ask(cluster, SHOP)] == [Done()]
        until(cluster, lambda v: all(x.freshness is Freshness.CURRENT for x in listings(v).values()))


def test_what_is_not_read_in_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespaces, "_LONGEST", 0.2)
    gate = threading.Event()
    with connected(Held(gate, "resourcequotas")) as cluster:
        [answer] = ask(cluster, SHOP)
        assert answer.result == Unknown("not all of namespace shop was read in time")
        gate.set()
        until(cluster, lambda v: v.quotas.freshness is Freshness.CURRENT)


def test_a_pod_of_the_namespace_is_known_by_its_uid_though_its_node_is_not_watched() -> None:
    server = Server(list_pods=[listed(7, pod("web", 7, namespace="shop"))])
    with connected(server) as cluster:
        ask(cluster, SHOP)
        known = cluster._watching.pod(PodRef("shop", "web", "uid-web"))
    assert known
    assert known.node_name == "spot-a"


def test_twenty_namespaces_that_hang_keep_no_eviction_no_cordon_and_no_look_at_the_guard_waiting() -> None:
    gate = threading.Event()
    spot = Response(200, {"kind": "Node", "metadata": {"name": "spot-a", "uid": "uid-spot-a"}, "spec": {}})
    guard = {
        "get_validatingadmissionpolicies.admissionregistration.k8s.io": [Response(200, POLICY)],
        "get_validatingadmissionpolicybindings.admissionregistration.k8s.io": [Response(200, BINDING)],
    }
    server = Held(gate, "resourcequotas", get_nodes=[spot], patch_nodes=[spot], **guard)
    mark = Mark("i-0abc", "spot-interruption", None, NOTICE, NOTICE)
    eviction = Evict(PodRef("default", "web", "uid-web"), timedelta(seconds=30))
    with connected(server) as cluster:
        for i in range(20):
            cluster.start(ObserveWorkloads(f"shop-{i}"))
        answers = ask(cluster, eviction, Cordon("spot-a", mark), CheckGuard(), within=3)
        assert [answer.result for answer in answers] == [Done()] * 3
        gate.set()


def test_closing_ends_every_thread_of_twenty_namespaces() -> None:
    server = Server()
    before = set(threading.enumerate())
    with connected(server) as cluster:
        ask(cluster, *(ObserveWorkloads(f"shop-{i}") for i in range(20)))
        server.wait_for(lambda: sum(c.verb == "watch" for c in server.asked) == 60, "three watches a namespace")
        ours = set(threading.enumerate()) - before
        assert 60 <= len(ours) <= 60 + 8 + 12 + 2
    assert not {thread for thread in ours if thread.is_alive()}
