"""Which budgets are being written right now, so that an eviction sent this moment would collide in the API server.

An eviction updates its budget's status, and so does the disruption controller a moment later; whoever comes second in
the same milliseconds waits half a second inside the server (EvictionsRetry, pkg/registry/core/pod/storage/eviction.go).

Law: nobody waits long for it: a budget that changes on and on is asked all the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lambdas.domain.values.kubernetes import Budget, BudgetRef

_QUIET = timedelta(milliseconds=15)
"""Between an eviction and the controller's own update lie some 5 ms, 11 at most."""

_LONGEST = timedelta(milliseconds=120)


@dataclass(slots=True)
class Settling:
    """When each budget was last seen to change, and since when it has been changing without a rest."""

    _versions: dict[BudgetRef, str] = field(default_factory=dict)
    _changed_at: dict[BudgetRef, datetime] = field(default_factory=dict)
    _restless_since: dict[BudgetRef, datetime] = field(default_factory=dict)

    def saw(self, budgets: Iterable[Budget], now: datetime) -> None:
        """The budgets as observed now; what is seen for the first time has been still."""
        for budget in budgets:
            ref, known = budget.ref, self._versions.get(budget.ref)
            if known == budget.version:
                continue
            self._versions[ref] = budget.version
            if known is None:
                continue
            last = self._changed_at.get(ref)
            if last is None or last + _QUIET <= now:
                self._restless_since[ref] = now
            self._changed_at[ref] = now

    def settles_at(self, ref: BudgetRef, now: datetime) -> datetime | None:
        """When the budget may be asked; None: now."""
        changed_at = self._changed_at.get(ref)
        if changed_at is None or changed_at + _QUIET <= now:
            return None
        at = min(changed_at + _QUIET, self._restless_since[ref] + _LONGEST)
        return at if at > now else None
