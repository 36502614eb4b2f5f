"""Whether the guard stands as we wrote it, told from what a real API server returns of it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
import yaml

from controlplane import Api
from controlplane.kinds import KINDS, path_of
from evac.rbac import render
from lambdas.adapters.kubernetes.guard import BINDING, POLICY, what_differs
from tests.cluster.rig import grant

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

RULE = POLICY["spec"]["matchConstraints"]["resourceRules"][0]
EVICTION = POLICY["spec"]["matchConstraints"]["excludeResourceRules"][0]
FIRST, SECOND, THIRD, *REST = POLICY["spec"]["validations"]
CONDITION = POLICY["spec"]["matchConditions"][0]
OTHER_NAMESPACES = {"matchLabels": {"a": "b"}}

WEAKER_POLICIES: list[tuple[str, Any, str]] = [
    ("failurePolicy", "Ignore", "the policy's failurePolicy is Ignore"),
    ("paramKind", {"apiVersion": "v1", "kind": "ConfigMap"}, "the policy has a paramKind"),
    (
        "matchConstraints.namespaceSelector",
        OTHER_NAMESPACES,
        "the policy is narrowed by its namespaceSelector",
    ),
    ("matchConstraints.objectSelector", OTHER_NAMESPACES, "the policy is narrowed by its objectSelector"),
    ("matchConstraints.matchPolicy", "Exact", "the policy's matchPolicy is Exact"),
    ("matchConstraints.resourceRules", [{**RULE, "resources": ["pods"]}], "the policy has other resourceRules"),
    ("matchConstraints.resourceRules", [{**RULE, "resourceNames": ["x"]}], "the policy has other resourceRules"),
    ("matchConstraints.excludeResourceRules", [EVICTION, RULE], "the policy has other excludeResourceRules"),
    ("matchConditions", [{**CONDITION, "expression": "false"}], "matchCondition 1 of the policy is another"),
    (
        "matchConditions",
        [CONDITION, {"name": "but-not-him", "expression": "false"}],
        "matchCondition 2 of the policy is not ours",
    ),
    (
        "validations",
        [FIRST, SECOND, {**THIRD, "expression": "true"}, *REST],
        "validation 3 of the policy is another",
    ),
    ("validations", [FIRST, SECOND, THIRD, *REST][:-1], f"validation {len(REST) + 3} of the policy is missing"),
    ("validations", [{"expression": "true"}], "validation 1 of the policy is another"),
]

WEAKER_BINDINGS: list[tuple[str, Any, str]] = [
    ("policyName", "another", "the binding's policyName is another"),
    ("validationActions", ["Audit"], "the binding's validationActions are [Audit]"),
    ("validationActions", ["Warn", "Audit"], "the binding's validationActions are [Warn, Audit]"),
    ("matchResources", {"namespaceSelector": OTHER_NAMESPACES}, "the binding is narrowed by matchResources"),
    ("matchResources", {"resourceRules": [RULE]}, "the binding is narrowed by matchResources"),
    ("paramRef", {"name": "x", "parameterNotFoundAction": "Allow"}, "the binding has a paramRef"),
]


def with_changed(manifest: Mapping[str, Any], field: str, value: Any) -> Json:
    """The manifest with another value somewhere in its spec."""
    changed = deepcopy(dict(manifest))
    at = changed["spec"]
    *way, last = field.split(".")
    for step in way:
        at = at[step]
    at[last] = value
    return changed


def as_read(api: Api, manifest: Mapping[str, Any]) -> Json:
    """What the API makes of it, by another name; nothing is created."""
    named = {**manifest, "metadata": {"name": "another"}}
    status, body = api.post(f"{KINDS[manifest['kind']].collection()}?dryRun=All", named)
    assert status == 201, body["message"]
    found: Json = body
    return found


def test_what_the_api_fills_in_is_no_difference(api: Api) -> None:
    grant(api)
    policy, binding = (api.get(path_of(dict(manifest)))[1] for manifest in (POLICY, BINDING))
    assert policy["spec"]["matchConstraints"].keys() > POLICY["spec"]["matchConstraints"].keys()
    assert what_differs(policy, binding) == ""


def test_what_kubectl_applies_of_the_printed_text_is_no_difference(api: Api) -> None:
    printed = {document["kind"]: document for document in yaml.safe_load_all(render())}
    policy, binding = (as_read(api, printed[manifest["kind"]]) for manifest in (POLICY, BINDING))
    assert what_differs(policy, binding) == ""


@pytest.mark.parametrize(("field", "value", "said"), WEAKER_POLICIES)
def test_a_weaker_policy_is_told(field: str, value: Any, said: str, api: Api) -> None:
    policy = as_read(api, with_changed(POLICY, field, value))
    assert what_differs(policy, as_read(api, BINDING)) == said


@pytest.mark.parametrize(("field", "value", "said"), WEAKER_BINDINGS)
def test_a_weaker_binding_is_told(field: str, value: Any, said: str, api: Api) -> None:
    binding = as_read(api, with_changed(BINDING, field, value))
    assert what_differs(as_read(api, POLICY), binding) == said
