"""Patches of pods, applied as the API server applies them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdas.adapters.kubernetes import pod_patches
from lambdas.contract import ANNOTATION_RELEASED_FROM, ANNOTATION_WOKEN_AT, LABEL_RELEASED, LABEL_TEMPLATE_HASH
from lambdas.domain.values.actions import Release
from lambdas.domain.values.kubernetes import Owner, PodRef
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.releases import (
    DELETION_COST,
    DO_NOT_DISRUPT,
    WRITTEN_ON_RELEASE,
    Released,
    decode_release,
    encode_release,
)
from tests.scenes import at
from tests.unit.kubernetes_adapter.applier import Json, Refused422, applied, copied

SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4", "uid": "uid-rs", "controller": True}
ASK = Release(
    PodRef("default", "web", "uid-web"),
    "5d4",
    Owner("ReplicaSet", "web-5d4", "uid-rs", "apps/v1"),
    Owner("Deployment", "web", "uid-deploy", "apps/v1"),
    at(3),
)
ANNOTATIONS = st.dictionaries(
    st.sampled_from([*WRITTEN_ON_RELEASE, "note", "odd~/key"]),
    st.sampled_from(["", "7", "false", *WRITTEN_ON_RELEASE.values()]),
)


def pod(annotations: dict[str, str] | None = None, **metadata: Any) -> Json:
    of: Json = {"name": "web", "namespace": "default", "uid": "uid-web", "ownerReferences": [SET]}
    of |= {"labels": {"app": "web", LABEL_TEMPLATE_HASH: "5d4"}, **metadata}
    return {"metadata": of | ({"annotations": annotations} if annotations else {}), "spec": {"nodeName": "spot-a"}}


def released(item: Json) -> Json:
    return applied(item, pod_patches.release(read_pod(item), ASK))


def taken_back(item: Json) -> Json:
    """And adopted by its ReplicaSet."""
    done = applied(item, pod_patches.take_back(read_pod(item)))
    done["metadata"]["ownerReferences"] = [SET]
    return done


def tidied(item: Json) -> Json:
    return applied(item, pod_patches.tidy_up(read_pod(item)))


@settings(deadline=None)
@given(ANNOTATIONS)
def test_released_taken_back_and_tidied_up_a_pod_is_what_it_was(annotations: dict[str, str]) -> None:
    item = pod(annotations)
    assert tidied(taken_back(released(item))) == item


@settings(deadline=None)
@given(ANNOTATIONS)
def test_taken_back_and_released_again_it_still_comes_back_to_what_it_was(annotations: dict[str, str]) -> None:
    item = pod(annotations)
    assert tidied(taken_back(released(taken_back(released(item))))) == item


@settings(deadline=None)
@given(ANNOTATIONS)
def test_a_release_writes_what_it_says_and_remembers_what_was_there(annotations: dict[str, str]) -> None:
    done = released(pod(annotations))["metadata"]
    assert done["labels"] == {"app": "web", LABEL_TEMPLATE_HASH: "released-5d4", LABEL_RELEASED: "true"}
    assert "ownerReferences" not in done
    ours = {**WRITTEN_ON_RELEASE, ANNOTATION_RELEASED_FROM: done["annotations"][ANNOTATION_RELEASED_FROM]}
    assert done["annotations"] == {**annotations, **ours}
    mark = decode_release(done["annotations"][ANNOTATION_RELEASED_FROM])
    assert mark
    assert mark.former == {key: annotations.get(key) for key in WRITTEN_ON_RELEASE}
    assert (mark.replica_set_uid, mark.deployment_uid, mark.hash, mark.at) == ("uid-rs", "uid-deploy", "5d4", at(3))


@pytest.mark.parametrize(
    "changed",
    [
        {"uid": "another"},
        {"labels": {LABEL_TEMPLATE_HASH: "6e5"}},
        {"labels": {}},
        {"ownerReferences": [{**SET, "uid": "another"}]},
        {"ownerReferences": []},
    ],
)
def test_a_release_of_a_pod_that_is_not_as_it_was_believed_to_be_is_refused_whole(changed: Json) -> None:
    patch = pod_patches.release(read_pod(pod()), ASK)
    with pytest.raises(Refused422):
        applied(pod(**changed), patch)


def test_a_pod_without_annotations_that_has_got_one_meanwhile_keeps_it() -> None:
    patch = pod_patches.release(read_pod(pod()), ASK)
    with pytest.raises(Refused422):
        applied(pod({"note": "x"}), patch)


def test_a_pod_that_was_taken_back_keeps_its_deletion_cost_until_it_is_tidied_up() -> None:
    back = taken_back(released(pod({DELETION_COST: "7"})))
    assert back["metadata"]["annotations"][DELETION_COST] == WRITTEN_ON_RELEASE[DELETION_COST]
    assert back["metadata"]["labels"] == {"app": "web", LABEL_TEMPLATE_HASH: "5d4", LABEL_RELEASED: "returned"}
    assert DO_NOT_DISRUPT not in back["metadata"]["annotations"]
    assert tidied(back)["metadata"]["annotations"] == {DELETION_COST: "7"}


def test_what_somebody_else_has_written_since_stays() -> None:
    item = released(pod())
    item["metadata"]["annotations"] |= {DO_NOT_DISRUPT: "for a reason", DELETION_COST: "99"}
    done = tidied(taken_back(item))["metadata"]["annotations"]
    assert done == {DO_NOT_DISRUPT: "for a reason", DELETION_COST: "99"}


@pytest.mark.parametrize("text", ["", "?", "{}", None])
def test_without_a_mark_that_can_be_read_the_hash_comes_back_from_the_label_and_what_is_as_ours_goes(
    text: str | None,
) -> None:
    item = released(pod({"note": "x"}))
    if text is None:
        del item["metadata"]["annotations"][ANNOTATION_RELEASED_FROM]
    else:
        item["metadata"]["annotations"][ANNOTATION_RELEASED_FROM] = text
    assert tidied(taken_back(item)) == pod({"note": "x"})


def test_the_hash_comes_back_from_the_label_whatever_its_annotation_says() -> None:
    """The guard lets no other hash pass: a pod with an annotation that somebody wrote would stay released for ever."""
    item = released(pod())
    lie = encode_release(Released("other-6e5", "uid-other", "other", "uid", "6e5", at(3)))
    item["metadata"]["annotations"][ANNOTATION_RELEASED_FROM] = lie
    assert taken_back(item)["metadata"]["labels"][LABEL_TEMPLATE_HASH] == "5d4"


def test_of_a_released_pod_whose_hash_somebody_took_away_the_annotation_knows_it() -> None:
    item = released(pod())
    item["metadata"]["labels"][LABEL_TEMPLATE_HASH] = "spoilt"
    assert taken_back(item)["metadata"]["labels"][LABEL_TEMPLATE_HASH] == "5d4"
    del item["metadata"]["labels"][LABEL_TEMPLATE_HASH]
    assert taken_back(item)["metadata"]["labels"][LABEL_TEMPLATE_HASH] == "5d4"


def test_what_is_done_or_not_ours_to_do_is_no_patch() -> None:
    plain, free = pod({"note": "x"}), released(pod())
    back = taken_back(free)
    assert pod_patches.take_back(read_pod(plain)) == []
    assert pod_patches.take_back(read_pod(back)) == []
    assert pod_patches.tidy_up(read_pod(plain)) == []
    assert pod_patches.tidy_up(read_pod(free)) == []


def test_an_undo_of_a_pod_that_has_changed_is_refused_whole() -> None:
    free = released(pod())
    patch = pod_patches.take_back(read_pod(free))
    other = copied(free)
    other["metadata"]["labels"][LABEL_RELEASED] = "returned"
    with pytest.raises(Refused422):
        applied(other, patch)


@settings(deadline=None)
@given(ANNOTATIONS)
def test_a_touch_sets_one_annotation_of_ours_and_nothing_else(annotations: dict[str, str]) -> None:
    item = pod(annotations)
    done = applied(item, pod_patches.wake(read_pod(item), at(7.9)))
    assert done == pod({**annotations, ANNOTATION_WOKEN_AT: "2026-11-02T03:04:12Z"})
