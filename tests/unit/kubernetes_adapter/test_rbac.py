"""The manifests that the function needs."""

import yaml

from evac.rbac import manifests, render, rights
from lambdas.contract import CLUSTER_ROLE, KUBERNETES_GROUP


def test_the_role_is_bound_to_the_group_of_the_access_entry() -> None:
    role, binding = manifests()
    assert (role["kind"], binding["kind"]) == ("ClusterRole", "ClusterRoleBinding")
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": CLUSTER_ROLE}
    assert [(s["kind"], s["name"]) for s in binding["subjects"]] == [("Group", KUBERNETES_GROUP)]


def test_no_rule_is_wider_than_one_resource_of_one_group() -> None:
    for rule in manifests()[0]["rules"]:
        assert len(rule["apiGroups"]) == len(rule["resources"]) == 1
        assert "*" not in str(rule)


def test_the_rules_are_the_rights() -> None:
    listed = {
        (rule["apiGroups"][0], rule["resources"][0], verb) for rule in manifests()[0]["rules"] for verb in rule["verbs"]
    }
    assert listed == {(right.group, right.resource, right.verb) for right in rights()}


def test_without_deletes_only_that_verb_is_missing() -> None:
    missing = set(rights()) - set(rights(deletes=False))
    assert {(right.resource, right.verb) for right in missing} == {("pods", "delete")}


def test_every_right_has_its_reason() -> None:
    assert all(right.why for right in rights())


def test_the_text_is_the_manifests() -> None:
    assert list(yaml.safe_load_all(render())) == manifests()
    assert list(yaml.safe_load_all(render(deletes=False))) == manifests(deletes=False)
