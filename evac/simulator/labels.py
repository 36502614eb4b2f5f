"""Label selectors on raw JSON, by the simulator's own reading of the API's rules."""

from collections.abc import Mapping
from typing import Any


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector (`matchLabels`, `matchExpressions`) selects: null nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels")
    if wanted and not has_all(wanted, labels):
        return False
    return all(expression_holds(e, labels) for e in selector.get("matchExpressions") or ())


def has_all(wanted: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether each of `wanted` is there (nodeSelector, a Service's or ReplicationController's map)."""
    return wanted.items() <= labels.items()


def expression_holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """One term of a selector or of a node affinity (which knows Gt and Lt too); an unknown operator never holds."""
    key, values = expression["key"], expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt" | "Lt" as operator:
            return _is_beyond(operator, labels.get(key), values)
        case _:
            return False


def _is_beyond(operator: str, label: str | None, values: Any) -> bool:
    try:
        have, bound = int(label or ""), int(values[0])
    except (ValueError, IndexError):
        return False
    return have > bound if operator == "Gt" else have < bound
