"""Builders that state only what a case is about."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from lambdas.domain.decisions.deadline import Deadline
from lambdas.domain.decisions.steps import Doomed
from lambdas.domain.values.kubernetes import Budget, BudgetRef, Deletion, Owner, Pod, PodRef
from lambdas.domain.values.observation import Freshness, Listing
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.settings import Settings

NOTICE = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
SETTINGS = Settings()


def at(seconds: float) -> datetime:
    """So many seconds after the notice."""
    return NOTICE + timedelta(seconds=seconds)


def pod(name: str = "web-1", *, grace: float = 30, owner: str | None = "ReplicaSet", **fields: Any) -> Pod:
    """A Ready pod of a ReplicaSet (or of `owner`, or of nobody)."""
    fields.setdefault("labels", {"app": "web"})
    controller = Owner(owner, "web", f"{owner}-uid") if owner else None
    return Pod(
        ref=PodRef("default", name, f"uid-{name}"),
        node_name="spot-a",
        owner=controller,
        grace=timedelta(seconds=grace),
        **fields,
    )


def terminating(since: float, grace: float = 30) -> Deletion:
    """A deletion asked for so many seconds after the notice."""
    return Deletion(at(since), timedelta(seconds=grace))


def budget(name: str = "web", *, allowed: int = 0, labels: Mapping[str, str] | None = None, **fields: Any) -> Budget:
    """A budget over app=web (or `labels`), counted by its controller."""
    selector = Selector.from_labels(labels or {"app": "web"})
    fields.setdefault("version", "1")
    return Budget(ref=BudgetRef("default", name), selector=selector, allowed=allowed, **fields)


def current(*budgets: Budget) -> Listing[Budget]:
    """Budgets kept current by a watch."""
    return Listing(budgets, Freshness.CURRENT)


def doomed(*pods: Pod, node: str = "spot-a", reclaim: float = 120, settings: Settings = SETTINGS) -> list[Doomed]:
    """Pods of a node that is taken 120 s after the notice."""
    return [Doomed(p, node, Deadline(at(reclaim), settings)) for p in pods]
