"""The guard as data, and what is told of one that says something else. What it denies: tests/cluster/test_guard.py."""

import json
from copy import deepcopy
from typing import Any

import pytest

from lambdas.adapters.kubernetes.guard import BINDING, POLICY, what_differs
from lambdas.contract import KUBERNETES_GROUP, LABEL_RELEASED, RELEASE_GUARD
from lambdas.domain.values.releases import WRITTEN_ON_RELEASE, released_hash

Json = dict[str, Any]


def policy(**spec: Any) -> Json:
    """As the API returns ours, with other values here and there."""
    read: Json = deepcopy(dict(POLICY))
    read["metadata"] |= {"uid": "1", "generation": 1}
    read["spec"]["matchConstraints"] |= {"namespaceSelector": {}, "objectSelector": {}}
    read["spec"] |= spec
    return {**read, "status": {"observedGeneration": 1}}


def binding(**spec: Any) -> Json:
    """As the API returns ours, with other values here and there."""
    read: Json = deepcopy(dict(BINDING))
    read["spec"] |= spec
    return read


def scope(**fields: Any) -> Json:
    """The match constraints, with other values here and there."""
    return {**POLICY["spec"]["matchConstraints"], **fields}


def test_ours_does_not_differ_from_ours() -> None:
    assert what_differs(POLICY, BINDING) == what_differs(policy(), binding()) == ""


def test_how_a_denial_is_worded_is_no_difference() -> None:
    reworded = [{"expression": v["expression"], "message": "no"} for v in POLICY["spec"]["validations"]]
    assert what_differs(policy(validations=reworded), binding()) == ""


def test_what_only_records_is_no_difference() -> None:
    recorded = policy(auditAnnotations=[{"key": "by", "valueExpression": "'x'"}])
    assert what_differs(recorded, binding(validationActions=["Deny", "Audit"])) == ""


def test_an_empty_narrowing_narrows_nothing() -> None:
    defaults = {"namespaceSelector": {}, "objectSelector": {}, "matchPolicy": "Equivalent"}
    assert what_differs(policy(), binding(matchResources=defaults)) == ""


@pytest.mark.parametrize("place", range(len(POLICY["spec"]["validations"])))
def test_each_validation_is_looked_at(place: int) -> None:
    validations = deepcopy(POLICY["spec"]["validations"])
    validations[place]["expression"] += " || true"
    assert (
        what_differs(policy(validations=validations), binding()) == f"validation {place + 1} of the policy is another"
    )


@pytest.mark.parametrize("place", range(len(POLICY["spec"]["variables"])))
@pytest.mark.parametrize("part", ["name", "expression"])
def test_each_variable_is_looked_at(place: int, part: str) -> None:
    variables = deepcopy(POLICY["spec"]["variables"])
    variables[place][part] = "other"
    assert what_differs(policy(variables=variables), binding()) == f"variable {place + 1} of the policy is another"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"failurePolicy": "Ignore"}, "the policy's failurePolicy is Ignore"),
        ({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}, "the policy has a paramKind"),
        ({"matchConstraints": scope(matchPolicy="Exact")}, "the policy's matchPolicy is Exact"),
        ({"matchConstraints": scope(resourceRules=[])}, "the policy has other resourceRules"),
        ({"matchConditions": []}, "matchCondition 1 of the policy is missing"),
        ({"validations": POLICY["spec"]["validations"][:2]}, "validation 3 of the policy is missing"),
    ],
)
def test_a_weaker_policy_is_told(spec: Json, said: str) -> None:
    assert what_differs(policy(**spec), binding()) == said


@pytest.mark.parametrize("actions", [["Audit"], ["Warn", "Audit"], [], None, "Deny"])
def test_a_binding_that_does_not_deny_is_told(actions: Any) -> None:
    said = ", ".join(actions) if isinstance(actions, list) else ""
    assert what_differs(policy(), binding(validationActions=actions)) == f"the binding's validationActions are [{said}]"


@pytest.mark.parametrize("odd", [None, [], "x", 5, {"spec": None}, {"a": 1}])
def test_any_shape_is_told_and_breaks_nothing(odd: Any) -> None:
    assert what_differs({"spec": odd}, binding())
    assert what_differs(policy(), {"spec": odd})
    for field in POLICY["spec"]:
        assert what_differs(policy(**{field: odd}), binding())
        assert what_differs(policy(**{field: [odd]}), binding())


def test_it_asks_about_our_group_alone() -> None:
    (condition,) = POLICY["spec"]["matchConditions"]
    assert f'"{KUBERNETES_GROUP}" in request.userInfo.groups' in condition["expression"]
    assert POLICY["metadata"]["name"] == BINDING["spec"]["policyName"] == RELEASE_GUARD


def test_it_knows_all_that_a_release_writes() -> None:
    text = json.dumps([v["expression"] for v in POLICY["spec"]["validations"]]).replace("\\", "")
    for key, value in WRITTEN_ON_RELEASE.items():
        assert f'variables.annotations["{key}"] == "{value}"' in text
    release = next(v["expression"] for v in POLICY["spec"]["variables"] if v["name"] == "isRelease")
    assert f'"{released_hash("x")[:-1]}"' in release
    mark = next(v["expression"] for v in POLICY["spec"]["variables"] if v["name"] == "mark")
    assert LABEL_RELEASED in mark
