"""What is sent about pods and nodes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.adapters.kubernetes import bodies, calls, paths
from lambdas.adapters.kubernetes.paths import BadName
from lambdas.domain.values.actions import Announce
from lambdas.domain.values.kubernetes import PodRef

POD = PodRef("shop", "web-1", "uid-1")
AT = datetime(2026, 11, 2, 3, 4, 5, 678_901, tzinfo=UTC)


def test_an_eviction_names_the_pod_its_namespace_and_its_uid() -> None:
    assert bodies.eviction(POD, timedelta(seconds=29.9)) == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-1", "namespace": "shop"},
        "deleteOptions": {"preconditions": {"uid": "uid-1"}, "gracePeriodSeconds": 29},
    }


def test_a_deletion_has_the_uid_as_precondition() -> None:
    body = bodies.deletion(POD, timedelta(seconds=5))
    assert body["preconditions"] == {"uid": "uid-1"}
    assert (body["gracePeriodSeconds"], body["propagationPolicy"]) == (5, "Background")


def test_a_pod_without_a_uid_is_nobody_in_particular() -> None:
    nobody = PodRef("shop", "web-1", "")
    for body in (bodies.eviction, bodies.deletion):
        with pytest.raises(BadName, match="shop/web-1 has no UID"):
            body(nobody, timedelta(seconds=5))


@given(st.timedeltas(timedelta(days=-1), timedelta(days=1)))
def test_a_grace_is_whole_seconds_never_none_and_never_more_than_given(grace: timedelta) -> None:
    seconds = bodies.whole_seconds(grace)
    assert seconds >= 1
    assert seconds == 1 or timedelta(seconds=seconds) <= grace < timedelta(seconds=seconds + 1)


def test_an_event_is_about_the_node_as_kubectl_looks_for_it() -> None:
    event = bodies.event(Announce("spot-a", "uid-9", "SpotDrained", "done", "Warning"), AT)
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "spot-a", "uid": "uid-9"}
    assert event["metadata"]["namespace"] == "default"
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-11-02T03:04:05Z"
    assert (event["type"], event["reason"], event["source"]) == ("Warning", "SpotDrained", {"component": "evac"})


def test_an_event_about_a_pod_is_in_its_namespace() -> None:
    event = bodies.event(Announce("spot-a", "uid-9", "PodLost", "held", "Warning", involved=POD), AT)
    about = {"apiVersion": "v1", "kind": "Pod", "namespace": POD.namespace, "name": POD.name, "uid": POD.uid}
    assert event["involvedObject"] == about
    assert event["metadata"]["name"].startswith(f"{POD.name}.")
    call = calls.create_event(event)
    assert (call.path, call.namespace) == (f"/api/v1/namespaces/{POD.namespace}/events", POD.namespace)


def test_two_events_of_one_node_have_names_of_their_own() -> None:
    announced = Announce("spot-a", "uid-9", "SpotDrained", "done")
    first, second = (bodies.event(announced, AT)["metadata"]["name"] for _ in range(2))
    assert first != second


@given(st.from_regex(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?", fullmatch=True).filter(paths.is_name))
def test_the_name_of_an_event_is_a_name_whatever_the_node_is_called(node_name: str) -> None:
    event = bodies.event(Announce(node_name, "uid", "Reason", "x" * 5000), AT)
    assert paths.is_name(event["metadata"]["name"])
    assert len(event["message"]) == 1024


def test_an_eviction_may_take_longer_than_the_server_lets_it_collide() -> None:
    assert calls.evict(POD, {}).read_timeout > 10
    assert calls.get_node("spot-a").read_timeout <= 5


def test_a_watch_is_given_up_soon_after_its_end() -> None:
    call = calls.watch(calls.Collection("pods", paths.PODS, fields="spec.nodeName=spot-a"), "7")
    assert int(call.query["timeoutSeconds"]) < call.read_timeout < 30
    assert (call.query["resourceVersion"], call.query["allowWatchBookmarks"]) == ("7", "true")
