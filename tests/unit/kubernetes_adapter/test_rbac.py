"""The manifests that the function needs."""

from typing import Any

import yaml

from evac.rbac import manifests, render, rights
from lambdas.adapters.kubernetes.guard import BINDING, POLICY
from lambdas.contract import CLUSTER_ROLE, KUBERNETES_GROUP, RELEASE_GUARD


def rules() -> list[dict[str, Any]]:
    """Of the role."""
    found: list[dict[str, Any]] = next(m["rules"] for m in manifests() if m["kind"] == "ClusterRole")
    return found


def test_the_role_is_bound_to_the_group_of_the_access_entry() -> None:
    *_, role, binding = manifests()
    assert (role["kind"], binding["kind"]) == ("ClusterRole", "ClusterRoleBinding")
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": CLUSTER_ROLE}
    assert [(s["kind"], s["name"]) for s in binding["subjects"]] == [("Group", KUBERNETES_GROUP)]


def test_no_rule_is_wider_than_one_resource_of_one_group() -> None:
    for rule in rules():
        assert len(rule["apiGroups"]) == len(rule["resources"]) == 1
        assert "*" not in str(rule)


def test_the_rules_are_the_rights() -> None:
    listed = {(rule["apiGroups"][0], rule["resources"][0], verb) for rule in rules() for verb in rule["verbs"]}
    assert listed == {(right.group, right.resource, right.verb) for right in rights()}


def test_without_deletes_only_that_verb_is_missing() -> None:
    missing = set(rights()) - set(rights(deletes=False))
    assert {(right.resource, right.verb) for right in missing} == {("pods", "delete")}


def test_without_releases_no_pod_can_be_patched_and_no_guard_is_needed() -> None:
    left = {(right.resource, right.verb) for right in rights(releases=False)}
    assert ("pods", "patch") not in left
    assert ("pods", "delete") in left
    assert [m["kind"] for m in manifests(releases=False)] == ["ClusterRole", "ClusterRoleBinding"]


def test_the_guard_comes_before_the_right_that_it_guards() -> None:
    policy, binding, role, _ = manifests()
    assert (policy, binding) == (POLICY, BINDING)
    assert any(rule["resources"] == ["pods"] and "patch" in rule["verbs"] for rule in role["rules"])


def test_no_other_policy_can_be_read() -> None:
    admission = [rule for rule in rules() if rule["apiGroups"] == ["admissionregistration.k8s.io"]]
    assert [(rule["resourceNames"], rule["verbs"]) for rule in admission] == [([RELEASE_GUARD], ["get"])] * 2


def test_every_right_has_its_reason() -> None:
    assert all(right.why for right in rights())


def test_the_text_is_the_manifests() -> None:
    assert list(yaml.safe_load_all(render())) == manifests()
    assert list(yaml.safe_load_all(render(deletes=False))) == manifests(deletes=False)
    assert list(yaml.safe_load_all(render(releases=False))) == manifests(releases=False)
