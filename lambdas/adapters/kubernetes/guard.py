"""The admission policy that holds our identity to its patches of pods, as data, and whether it stands as we wrote it.

Law: what the policy does not let pass, or cannot evaluate, is denied (`failurePolicy: Fail`); who is not in our group
is never asked. Of all that can be asked of pods only `pods/eviction` is left out: their budgets guard that.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from lambdas.adapters.kubernetes.guard_rules import VALIDATIONS, VARIABLES, cel
from lambdas.contract import KUBERNETES_GROUP, RELEASE_GUARD

_API: Final = "admissionregistration.k8s.io/v1"

POLICY: Final[Mapping[str, Any]] = {
    "apiVersion": _API,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": RELEASE_GUARD},
    "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE", "CONNECT"],
                    "resources": ["pods", "pods/*"],
                    "scope": "*",
                }
            ],
            "excludeResourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["pods/eviction"],
                    "scope": "*",
                }
            ],
        },
        "matchConditions": [
            {
                "name": "only-the-handlers",
                "expression": f"has(request.userInfo.groups) && {cel(KUBERNETES_GROUP)} in request.userInfo.groups",
            }
        ],
        "variables": [{"name": name, "expression": expression} for name, expression in VARIABLES],
        "validations": [
            {"expression": expression, "message": f"{KUBERNETES_GROUP}: {message}", "reason": "Forbidden"}
            for expression, message in VALIDATIONS
        ],
    },
}

BINDING: Final[Mapping[str, Any]] = {
    "apiVersion": _API,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": RELEASE_GUARD},
    "spec": {"policyName": RELEASE_GUARD, "validationActions": ["Deny"]},
}

_COMPARED: Final[Mapping[str, Sequence[str]]] = {
    "matchConditions": ("expression",),
    "variables": ("name", "expression"),
    "validations": ("expression",),
}
"""What counts of each entry: how a denial is worded does not."""


def what_differs(policy: Mapping[str, Any], binding: Mapping[str, Any]) -> str:
    """Empty where both, as the API returns them, hold us to what ours do; else the first thing that is another.

    What the API has filled in is no difference, nor is an action beside Deny.
    """
    return next(_differences(_mapping(policy.get("spec")), _mapping(binding.get("spec"))), "")


def _differences(policy: Mapping[str, Any], binding: Mapping[str, Any]) -> Iterator[str]:
    ours = POLICY["spec"]
    if policy.get("failurePolicy") != ours["failurePolicy"]:
        yield f"the policy's failurePolicy is {policy.get('failurePolicy')}"
    if policy.get("paramKind"):
        yield "the policy has a paramKind"
    yield from _of_scope(_mapping(policy.get("matchConstraints")), ours["matchConstraints"])
    for field in _COMPARED:
        yield from _of_entries(field, policy.get(field), ours[field])
    yield from _of_binding(binding, BINDING["spec"])


def _of_scope(found: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """The selectors, which are empty in ours, would leave pods out."""
    for selector in ("namespaceSelector", "objectSelector"):
        if found.get(selector):
            yield f"the policy is narrowed by its {selector}"
    if found.get("matchPolicy") != ours["matchPolicy"]:
        yield f"the policy's matchPolicy is {found.get('matchPolicy')}"
    for field in ("resourceRules", "excludeResourceRules"):
        if found.get(field) != ours[field]:
            yield f"the policy has other {field}"


def _of_entries(field: str, found: object, ours: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """`field` is a plural; entries are counted from 1, as people do."""
    theirs = found if isinstance(found, list) else []
    for place, (their, our) in enumerate(zip_longest(map(_mapping, theirs), ours), 1):
        if our is None:
            yield f"{field[:-1]} {place} of the policy is not ours"
        elif their is None:
            yield f"{field[:-1]} {place} of the policy is missing"
        elif any(their.get(key) != our[key] for key in _COMPARED[field]):
            yield f"{field[:-1]} {place} of the policy is another"


def _of_binding(found: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    if found.get("policyName") != ours["policyName"]:
        yield f"the binding's policyName is {found.get('policyName')}"
    actions = found.get("validationActions")
    if not isinstance(actions, list) or "Deny" not in actions:
        said = ", ".join(map(str, actions)) if isinstance(actions, list) else ""
        yield f"the binding's validationActions are [{said}]"
    if found.get("paramRef"):
        yield "the binding has a paramRef"
    if any(value for field, value in _mapping(found.get("matchResources")).items() if field != "matchPolicy"):
        yield "the binding is narrowed by matchResources"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
