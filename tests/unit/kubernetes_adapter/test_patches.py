"""Patches of a node, carried out by an applier of RFC 6902 with Kubernetes's reading of a test against null."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lambdas.adapters.kubernetes import patches
from lambdas.contract import (
    ANNOTATION_MARK,
    LABEL_DRAINING,
    LABEL_EXCLUDE_FROM_LOAD_BALANCERS,
    TAINT_INTERRUPTED,
)
from lambdas.domain.values.actions import Mark
from lambdas.domain.values.manifests import read_node
from lambdas.domain.values.marks import Former, decode_mark
from tests.scenes import NOTICE
from tests.unit.kubernetes_adapter.applier import Json, Refused422, applied, copied

MARK = Mark("i-0abc", "spot-interruption", NOTICE + timedelta(seconds=120), NOTICE, NOTICE + timedelta(hours=1))


def node(**spec: Any) -> Json:
    return {"metadata": {"name": "spot-a", "uid": "uid-1"}, "spec": {"providerID": "aws:///z/i-0abc", **spec}}


def cordoned(item: Json) -> Json:
    return applied(item, patches.cordon(read_node(item), MARK))


keys = st.sampled_from(["a", "a/b", "a~b", "c.d/e~f", "kubernetes.io/hostname", LABEL_EXCLUDE_FROM_LOAD_BALANCERS])
maps = st.dictionaries(keys, st.sampled_from(["", "x", "true"]), max_size=4)
taints = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["gpu", "team", "x/y"]), "effect": st.sampled_from(["NoSchedule", "NoExecute"])}
    ),
    unique_by=lambda t: (t["key"], t["effect"]),
    max_size=4,
)


@st.composite
def nodes(draw: st.DrawFn) -> Json:
    """Any node that does not carry our mark, as the API prints it."""
    labels, annotations, tainted = draw(maps), draw(maps), draw(taints)
    item = node()
    item["metadata"] |= {k: v for k, v in (("labels", labels), ("annotations", annotations)) if v}
    item["spec"] |= {"taints": tainted} if tainted else {}
    item["spec"] |= {"unschedulable": True} if draw(st.booleans()) else {}
    return item


@dataclass(frozen=True)
class Change:
    """What somebody else may do to a node at any moment."""

    what: str
    key: str

    def made(self, item: Json) -> Json:
        changed: Json = copied(item)
        metadata, spec = changed["metadata"], changed["spec"]
        match self.what:
            case "cordon":
                spec["unschedulable"] = True
            case "uncordon":
                spec.pop("unschedulable", None)
            case "label":
                metadata.setdefault("labels", {})[self.key] = "other"
            case "annotate":
                metadata.setdefault("annotations", {})[self.key] = "other"
            case "taint":
                spec["taints"] = [{"key": "node.kubernetes.io/other", "effect": "NoSchedule"}, *spec.get("taints", [])]
            case "strip":
                for field in ("labels", "annotations"):
                    metadata.pop(field, None)
                spec.pop("taints", None)
            case "replace":
                metadata["uid"] = "uid-2"
        return changed


changes = st.builds(
    Change, st.sampled_from(["cordon", "uncordon", "label", "annotate", "taint", "strip", "replace"]), keys
)


@given(nodes())
def test_a_cordon_is_all_of_it_at_once(item: Json) -> None:
    after = cordoned(item)
    assert after["spec"]["unschedulable"] is True
    assert after["metadata"]["labels"][LABEL_DRAINING] == "true"
    assert {"key": TAINT_INTERRUPTED, "value": MARK.reason, "effect": "NoSchedule"} in after["spec"]["taints"]
    former = Former(
        item["spec"].get("unschedulable", False),
        LABEL_EXCLUDE_FROM_LOAD_BALANCERS in item["metadata"].get("labels", {}),
    )
    assert decode_mark(after["metadata"]["annotations"][ANNOTATION_MARK]) == (MARK, former)


@given(nodes())
def test_what_was_there_stays_under_a_cordon(item: Json) -> None:
    after = cordoned(item)
    for field in ("labels", "annotations"):
        assert item["metadata"].get(field, {}).items() <= after["metadata"][field].items()
    assert after["spec"]["taints"][:-1] == item["spec"].get("taints", [])


@given(nodes())
def test_a_second_cordon_is_no_patch(item: Json) -> None:
    assert patches.cordon(read_node(cordoned(item)), MARK) == []


@given(nodes(), st.booleans())
def test_a_restored_node_is_what_it_was(item: Json, excludes: bool) -> None:
    after = cordoned(item)
    if excludes:
        after = applied(after, patches.exclude_from_load_balancers(read_node(after)))
        assert LABEL_EXCLUDE_FROM_LOAD_BALANCERS in after["metadata"]["labels"]
    assert applied(after, patches.restore(read_node(after))) == item


@given(nodes())
def test_a_node_that_is_not_ours_is_not_touched(item: Json) -> None:
    assert patches.restore(read_node(item)) == []


@given(nodes(), changes)
@example(node(), Change("strip", "a"))
@example(node(), Change("replace", "a"))
def test_a_cordon_built_on_what_has_changed_is_refused_or_still_right(item: Json, change: Change) -> None:
    patch = patches.cordon(read_node(item), MARK)
    changed = change.made(item)
    try:
        after = applied(changed, patch)
    except Refused422:
        return
    assert changed["metadata"]["uid"] == item["metadata"]["uid"]
    restored = applied(after, patches.restore(read_node(after)))
    excluded = LABEL_EXCLUDE_FROM_LOAD_BALANCERS
    assume(excluded not in changed["metadata"].get("labels", {}) or excluded in item["metadata"].get("labels", {}))
    assert restored == applied(changed, [])


@given(nodes(), changes)
@example(node(), Change("taint", "a"))
@example(node(), Change("uncordon", "a"))
def test_a_restoration_built_on_what_has_changed_is_refused_or_takes_only_ours(item: Json, change: Change) -> None:
    ours = cordoned(item)
    patch = patches.restore(read_node(ours))
    changed = change.made(ours)
    try:
        after = applied(changed, patch)
    except Refused422:
        return
    foreign = [t for t in changed["spec"].get("taints", []) if t["key"] != TAINT_INTERRUPTED]
    assert after["spec"].get("taints", []) == foreign
    was_theirs = item["spec"].get("unschedulable", False)
    assert after["spec"].get("unschedulable", False) == (was_theirs and changed["spec"].get("unschedulable", False))


@pytest.mark.parametrize("lost", ["taint", "label", "unschedulable"])
def test_a_part_that_somebody_took_off_is_put_back_under_the_same_mark(lost: str) -> None:
    item = cordoned(node())
    match lost:
        case "taint":
            item["spec"].pop("taints")
        case "label":
            item["metadata"].pop("labels")
        case "unschedulable":
            item["spec"].pop("unschedulable")
    other = Mark("i-0abc", "instance-stopping", None, NOTICE, NOTICE)
    after = applied(item, patches.cordon(read_node(item), other))
    marked = decode_mark(after["metadata"]["annotations"][ANNOTATION_MARK])
    assert marked == (MARK, Former())
    assert after["spec"]["unschedulable"] is True
    assert after["metadata"]["labels"][LABEL_DRAINING] == "true"
    assert [t["key"] for t in after["spec"]["taints"]] == [TAINT_INTERRUPTED]


def test_a_mark_that_cannot_be_read_is_made_anew_and_the_cordon_then_counts_as_not_ours() -> None:
    item = cordoned(node())
    item["metadata"]["annotations"][ANNOTATION_MARK] = "{"
    after = cordoned(item)
    marked = decode_mark(after["metadata"]["annotations"][ANNOTATION_MARK])
    assert marked is not None
    assert marked[1] == Former(unschedulable=True)


def test_without_a_readable_mark_a_node_stays_cordoned_and_loses_our_label_and_taint() -> None:
    item = cordoned(node())
    item["metadata"]["annotations"][ANNOTATION_MARK] = "{"
    after = applied(item, patches.restore(read_node(item)))
    assert after == {**node(unschedulable=True)}


def test_all_taints_of_our_key_are_taken_off_and_the_ones_between_stay() -> None:
    ours = [{"key": TAINT_INTERRUPTED, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    other = {"key": "gpu", "effect": "NoSchedule"}
    item = node(taints=[ours[0], other, ours[1]])
    assert applied(item, patches.restore(read_node(item))) == node(taints=[other])


def test_an_exclusion_of_somebody_elses_is_no_patch() -> None:
    item = node()
    item["metadata"]["labels"] = {LABEL_EXCLUDE_FROM_LOAD_BALANCERS: "theirs"}
    assert patches.exclude_from_load_balancers(read_node(item)) == []
