"""What patches of pods are answered: who refused, and whether asking again is of use."""

from dataclasses import replace
from typing import Any

import pytest

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Reply, Response
from lambdas.adapters.kubernetes.guard import BINDING, POLICY
from lambdas.adapters.kubernetes.pods import Pods
from lambdas.adapters.kubernetes.watching import Watching
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import Release, TakeBack, TidyUp, Wake
from lambdas.domain.values.answers import Absent, Conflict, Done, Forbidden, Found, Passing, Refused, Result
from lambdas.domain.values.kubernetes import Owner, PodRef
from lambdas.domain.values.releases import Released, encode_release
from tests.scenes import NOTICE
from tests.unit.kubernetes_adapter.scripted import Json, Server, listed, pod, refused

WEB = PodRef("shop", "web", "uid-web")
SETS = {"kind": "ReplicaSet", "name": "web-5d4", "uid": "uid-rs", "apiVersion": "apps/v1", "controller": True}
SET, DEPLOYMENT = (
    Owner("ReplicaSet", "web-5d4", "uid-rs", "apps/v1"),
    Owner("Deployment", "web", "uid-deploy", "apps/v1"),
)
RELEASE = Release(WEB, "5d4", SET, DEPLOYMENT, NOTICE)
MARK = encode_release(Released("web-5d4", "uid-rs", "web", "uid-deploy", "5d4", NOTICE))
DENIED = refused(422, "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'owned' denied request: no orphans")


def owned(**labels: str) -> Response:
    return _of({LABEL_TEMPLATE_HASH: "5d4", **labels}, ownerReferences=[SETS])


def released(mark: str = "true", template_hash: str = "released-5d4") -> Response:
    labels = {LABEL_TEMPLATE_HASH: template_hash, LABEL_RELEASED: mark}
    return _of(labels, annotations={ANNOTATION_RELEASED_FROM: MARK})


def _of(labels: dict[str, str], **metadata: Any) -> Response:
    return Response(200, pod("web", 5, namespace="shop", labels=labels, **metadata))


def pods(server: Server) -> Pods:
    return Pods(server, Watching(server, SystemClock(), lambda: None))


def patches(server: Server) -> int:
    return server.sent["patch", "pods"]


def test_a_release_is_built_of_a_pod_that_nobody_watches_yet() -> None:
    server = Server(get_pods=[owned()], patch_pods=[owned()])
    assert pods(server).release(RELEASE) == Done()
    assert [call.verb for call in server.asked] == ["get", "patch"]


def test_a_pod_with_several_owners_is_not_released() -> None:
    several = _of({LABEL_TEMPLATE_HASH: "5d4"}, ownerReferences=[SETS, {**SETS, "controller": False, "uid": "other"}])
    server = Server(get_pods=[several])
    assert pods(server).release(RELEASE) == Refused("shop/web has several owners")
    assert patches(server) == 0


@pytest.mark.parametrize("template_hash", ["x" * 55, "released-5d4", ""])
def test_a_pod_whose_hash_makes_no_label_of_a_released_one_is_not_released(template_hash: str) -> None:
    server = Server(get_pods=[owned(**{LABEL_TEMPLATE_HASH: template_hash})])
    assert isinstance(pods(server).release(replace(RELEASE, hash=template_hash)), Refused)
    assert patches(server) == 0


@pytest.mark.parametrize("changed", [released(), owned(**{LABEL_TEMPLATE_HASH: "6e5"})])
def test_a_pod_that_has_changed_is_a_conflict_and_costs_no_patch(changed: Reply) -> None:
    server = Server(get_pods=[changed])
    assert isinstance(pods(server).release(RELEASE), Conflict)
    assert patches(server) == 0


def test_a_release_refused_though_the_pod_is_as_it_was_is_a_policys_word() -> None:
    server = Server(get_pods=[owned()], patch_pods=[DENIED])
    answer = pods(server).release(RELEASE)
    assert isinstance(answer, Forbidden)
    assert "no orphans" in answer.message
    assert patches(server) == 1


def test_a_release_refused_since_the_pod_has_changed_is_a_conflict() -> None:
    server = Server(get_pods=[owned(), released()], patch_pods=[refused(422, "test failed")])
    assert isinstance(pods(server).release(RELEASE), Conflict)


def test_a_release_refused_since_the_pod_has_got_another_owner_is_no_policys_word() -> None:
    several = _of({LABEL_TEMPLATE_HASH: "5d4"}, ownerReferences=[{**SETS, "controller": False, "uid": "other"}, SETS])
    server = Server(get_pods=[owned(), several], patch_pods=[refused(422, "test failed")])
    assert isinstance(pods(server).release(RELEASE), Refused)


def test_a_release_refused_since_the_pod_has_got_its_first_annotation_is_built_anew() -> None:
    annotated = _of({LABEL_TEMPLATE_HASH: "5d4"}, ownerReferences=[SETS], annotations={"note": "x"})
    server = Server(get_pods=[owned(), annotated], patch_pods=[refused(422, "test failed"), owned()])
    assert pods(server).release(RELEASE) == Done()


def test_a_release_refused_since_the_pod_is_gone_is_absent() -> None:
    server = Server(get_pods=[owned(), _gone()], patch_pods=[refused(422, "test failed")])
    assert pods(server).release(RELEASE) == Absent()


def _gone() -> Response:
    return Response(404, {"kind": "Status", "code": 404, "details": {"kind": "pods", "name": "web"}})


def test_a_release_that_lost_a_race_inside_the_server_is_a_conflict_and_no_policys_word() -> None:
    server = Server(get_pods=[owned()], patch_pods=[refused(409, "the object has been modified")])
    assert isinstance(pods(server).release(RELEASE), Conflict)


@pytest.mark.parametrize(
    ("ask", "there"),
    [(TakeBack(WEB), released()), (TidyUp(WEB), released("returned", "5d4")), (Wake(WEB, NOTICE), owned())],
)
def test_an_undo_or_a_touch_that_a_policy_refuses_is_asked_once_and_forbidden(ask: Any, there: Reply) -> None:
    server = Server(get_pods=[there], patch_pods=[DENIED])
    answer = pods(server).change(ask)
    assert isinstance(answer, Forbidden)
    assert "no orphans" in answer.message
    assert patches(server) == 1


def test_an_undo_that_somebody_was_faster_than_is_built_anew() -> None:
    later = released(template_hash="released-5d5")
    server = Server(get_pods=[released(), later], patch_pods=[refused(422, "test failed"), owned()])
    assert pods(server).change(TakeBack(WEB)) == Done()
    sent = [call.body for call in server.asked if call.verb == "patch"]
    assert [_tested(operations) for operations in sent] == ["released-5d4", "released-5d5"]


def _tested(operations: list[Json]) -> str:
    path = f"/metadata/labels/{LABEL_TEMPLATE_HASH}"
    return next(str(o["value"]) for o in operations if (o["op"], o["path"]) == ("test", path))


def test_an_undo_that_somebody_else_has_done_is_done() -> None:
    server = Server(get_pods=[released(), released("returned", "5d4")], patch_pods=[refused(422, "test failed")])
    assert pods(server).change(TakeBack(WEB)) == Done()


def test_an_undo_of_a_pod_that_keeps_changing_is_given_up() -> None:
    server = Server(get_pods=[released()], patch_pods=[refused(409, "the object has been modified")])
    assert isinstance(pods(server).change(TakeBack(WEB)), Conflict)
    assert 1 < patches(server) < 10


def test_what_is_no_patch_for_us_is_told_by_its_own_words() -> None:
    server = Server(get_pods=[released()], patch_pods=[refused(403, "no rule for it")])
    answer = pods(server).change(TakeBack(WEB))
    assert answer == Forbidden("may not patch pods: no rule for it")


def guard(policy: Reply | None = None, binding: Reply | None = None) -> Server:
    return Server(
        **{
            "get_validatingadmissionpolicies.admissionregistration.k8s.io": [policy or Response(200, POLICY)],
            "get_validatingadmissionpolicybindings.admissionregistration.k8s.io": [binding or Response(200, BINDING)],
        }
    )


ABSENT = Response(404, {"kind": "Status", "code": 404, "details": {"name": "spot-evac-handler-pods"}})


@pytest.mark.parametrize(
    ("server", "answer"),
    [
        (guard(), Done()),
        (guard(policy=ABSENT), Absent()),
        (guard(binding=ABSENT), Absent()),
        (guard(policy=refused(500)), Passing("the API server failed (500 why)")),
    ],
)
def test_the_guard_stands_where_policy_and_binding_do(server: Server, answer: Result) -> None:
    assert pods(server).check_guard() == answer


def test_a_guard_that_says_something_else_is_refused_with_the_difference() -> None:
    answer = pods(guard(binding=Response(200, {**BINDING, "spec": {}}))).check_guard()
    assert isinstance(answer, Refused)
    assert answer.message


def test_a_guard_that_may_not_be_read_is_forbidden() -> None:
    assert isinstance(pods(guard(policy=refused(403))).check_guard(), Forbidden)


def test_released_pods_are_listed_over_the_cluster_in_pages_by_our_label() -> None:
    other = pod("api", 6, namespace="bank", labels={LABEL_RELEASED: "returned"})
    server = Server(list_pods=[listed(5, released().body, token="more"), listed(5, other)])  # type: ignore[arg-type]
    found = pods(server).list_released()
    assert isinstance(found, Found)
    assert [str(p.ref) for p in found.pods] == ["shop/web", "bank/api"]
    assert {call.query["labelSelector"] for call in server.asked} == {LABEL_RELEASED}
