"""What can be set for a drain, with the defaults and their reasons."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum


class BudgetMode(Enum):
    """How far budgets are exceeded on a host that dies."""

    PACE = "pace"
    """By the least: a few pods early rather than all of them at their last safe moment."""
    DEADLINE = "deadline"
    """Strict until a pod's last safe moment; then it is deleted."""
    NEVER = "never"
    """Not at all: a pod held by its budget is left to die with the host, and named."""


class ReleaseMode(Enum):
    """How many pods of a workload are released from their ReplicaSet at a time, so as to be replaced first."""

    WITHIN = "within"
    """Never more than its maxSurge."""
    ENOUGH = "enough"
    """maxSurge, and more only where that would not make the deadline or finds no room."""
    ALL = "all"
    """All at once."""
    OFF = "off"
    """None: pods are evicted first and replaced after."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one deployment.

    `margin`: kept free before reclaim, for the kubelet's and the API's own delays.
    `grace_counted`: at most this much of a controlled pod's grace counts towards its last safe moment (the pod still
    gets all that is left): with 115 s and more that moment would be the notice itself.
    `budgets`, `release`: as their modes say; an annotation on a Deployment may override `release`.
    `releases_unchecked`: also where a kind of object that may forbid it cannot be read.
    `needs_guard`: releases only where the admission policy stands that holds the function to its patches; a person
    with a kubeconfig of their own needs none.
    `cluster_name`: an instance whose tags name other clusters only is not ours; empty takes any.
    """

    margin: timedelta = timedelta(seconds=5)
    grace_counted: timedelta = timedelta(seconds=60)
    budgets: BudgetMode = BudgetMode.PACE
    release: ReleaseMode = ReleaseMode.ENOUGH
    releases_unchecked: bool = False
    needs_guard: bool = True
    cluster_name: str = ""

    @property
    def deletes_at_last_safe_moment(self) -> bool:
        """Whether a pod that its budget still holds then is deleted."""
        return self.budgets is not BudgetMode.NEVER

    @property
    def paces_budgets(self) -> bool:
        """Whether a budget that would keep pods to their last safe moment is exceeded by the least beforehand."""
        return self.budgets is BudgetMode.PACE
