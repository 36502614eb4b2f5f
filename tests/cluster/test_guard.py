"""The guard on a real API server: a handler gone bad can do nothing to a pod but release it and what undoes that."""

from collections.abc import Iterator

import pytest

from controlplane import Api, ControlPlane
from controlplane.client import Answer
from lambdas.contract import ANNOTATION_RELEASED_FROM, LABEL_RELEASED, LABEL_TEMPLATE_HASH, RELEASE_GUARD
from lambdas.domain.values.releases import WRITTEN_ON_RELEASE
from tests.cluster.guard_attempts import CONNECTED, DENIED, NEW_OWNER, PASSES, REQUESTED
from tests.cluster.guarded import HASH, RELEASE, TAKE_BACK, Scene, made, patch
from tests.cluster.rig import PODS
from tests.scenes import bare

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def scene(plane: ControlPlane) -> Iterator[Scene]:
    """One for all: nothing that is tried here changes anything."""
    admin, handler = Api(plane), Api(plane, "handler")
    yield made(admin, handler)
    admin.wipe()
    admin.close()
    handler.close()


def assert_denied(answer: Answer) -> None:
    status, body = answer
    assert (status, body["reason"]) == (403, "Forbidden"), body
    assert f"ValidatingAdmissionPolicy '{RELEASE_GUARD}'" in body["message"]


@pytest.mark.parametrize("what", PASSES)
def test_it_lets_pass(what: str, scene: Scene) -> None:
    status, body = scene.tried(*PASSES[what])
    assert status == 200, body["message"]


@pytest.mark.parametrize("what", DENIED)
def test_it_denies(what: str, scene: Scene) -> None:
    assert_denied(scene.tried(*DENIED[what]))


@pytest.mark.parametrize("what", DENIED)
def test_who_is_not_the_handler_may(what: str, scene: Scene) -> None:
    pod, changes = DENIED[what]
    status, body = scene.admin.patch(scene.path(pod), patch(changes))
    assert status == 200, body["message"]


@pytest.mark.parametrize("what", REQUESTED)
def test_it_denies_the_handler_alone(what: str, scene: Scene) -> None:
    denied = REQUESTED[what](scene, scene.handler)
    assert_denied(denied)
    assert what == "a put" or "not create them, and no subresource" in denied[1]["message"]
    status, body = REQUESTED[what](scene, scene.admin)
    assert status in (200, 201), body["message"]


@pytest.mark.parametrize("way", CONNECTED)
def test_it_denies_a_way_into_a_pod(way: str, scene: Scene) -> None:
    assert_denied(scene.handler.post(f"{PODS}/{scene.pods['web']}/{CONNECTED[way]}", {}))


def test_it_denies_a_release_of_a_pod_with_several_owners(scene: Scene) -> None:
    path = f"{PODS}/{scene.pods['cache']}"
    first = scene.admin.get(path)[1]["metadata"]["ownerReferences"]
    scene.admin.patch(path, {"metadata": {"ownerReferences": [*first, NEW_OWNER]}})
    assert_denied(scene.tried("cache", RELEASE))


def test_it_leaves_eviction_and_deletion_to_role_and_budget(scene: Scene) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": scene.pods["web"]}}
    evicted = scene.handler.post(scene.path("web", "eviction"), {**eviction, "deleteOptions": {"dryRun": ["All"]}})
    deleted = scene.handler.delete(scene.path("web"))
    assert (evicted[0], deleted[0]) == (201, 200)


def test_a_pod_may_carry_as_much_as_it_can(scene: Scene) -> None:
    much = {f"example.com/{i}": "x" * 200 for i in range(1000)}
    many = {f"label-{i}": "x" * 60 for i in range(300)}
    large = bare("large", "", {"app": "large", LABEL_TEMPLATE_HASH: f"released-{HASH}", LABEL_RELEASED: "true", **many})
    large["metadata"]["annotations"] |= {**WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: "{}", **much}
    container = large["spec"]["containers"][0]
    environment = [{"name": f"NAME_{i}", "value": "x" * 300} for i in range(500)]
    large["spec"]["containers"] = [{**container, "name": f"c{i}", "env": environment} for i in range(5)]
    scene.admin.apply(large)
    status, body = scene.handler.patch(f"{PODS}/large?dryRun=All", patch(TAKE_BACK))
    assert status == 200, body["message"]
