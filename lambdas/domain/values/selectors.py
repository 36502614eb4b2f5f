"""Label selectors as Kubernetes writes them, and what they match."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector: `operator` is In, NotIn, Exists or DoesNotExist."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` satisfy it. NotIn and DoesNotExist hold where the key is absent (apimachinery labels)."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold. `None` for requirements: matches nothing (a null selector)."""

    requirements: tuple[Requirement, ...] | None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected; an empty selector selects everything."""
        return self.requirements is not None and all(r.holds(labels) for r in self.requirements)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str] | None) -> Self:
        """A Service's or ReplicationController's plain map; without one (or empty) nothing is selected."""
        if not labels:
            return cls(None)
        return cls(tuple(Requirement(k, "In", frozenset([v])) for k, v in labels.items()))

    @classmethod
    def from_json(cls, selector: Mapping[str, Any] | None) -> Self:
        """A LabelSelector (`matchLabels`, `matchExpressions`); null selects nothing, {} everything (policy/v1)."""
        if selector is None:
            return cls(None)
        labels = selector.get("matchLabels") or {}
        terms = [Requirement(k, "In", frozenset([v])) for k, v in labels.items()]
        for e in selector.get("matchExpressions") or ():
            terms.append(Requirement(e["key"], e["operator"], frozenset(e.get("values") or ())))
        return cls(tuple(terms))
