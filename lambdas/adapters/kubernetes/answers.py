"""What the API server's answer means for the drain.

Law: one table, the first row that fits decides. It is pure: a Response or a Failure in, a Result out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, Trouble
from lambdas.domain.values.answers import (
    Absent,
    Blocked,
    Conflict,
    Done,
    Forbidden,
    NamespaceTerminating,
    Passing,
    Refused,
    Result,
    SeveralBudgets,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.kubernetes import BudgetRef

_LONGEST = 500
_BUDGET_CAUSE = "DisruptionBudget"
_BUDGET_KIND = "poddisruptionbudget"
_NAMED_BUDGET = re.compile(r"disruption budget (\S+) ")
_SEVERAL = "more than one PodDisruptionBudget"
_UID_DIFFERS = "UID in the precondition"
_NOBODY = '"system:anonymous"'
_DEFAULT_RETRY = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A response, taken apart. `kind` and `name` are of `details`; `causes` its reasons, with their messages."""

    call: Call
    status: int
    message: str
    reason: str
    kind: str
    name: str
    causes: Mapping[str, str]
    retry_after: float | None


def result_of(call: Call, reply: Reply) -> Result:
    """What `reply` means for `call`; a list or a node that came is read by who asked for it."""
    match reply:
        case Failure():
            return _of_failure(reply)
        case Response():
            reading = read(call, reply)
            return next(row.result(reading) for row in ROWS if row.fits(reading))


def read(call: Call, response: Response) -> Reading:
    """Take a Status object apart; what is none, or is broken, has the text it came with."""
    body = response.body if response.body.get("kind") == "Status" else {}
    details = body.get("details")
    details = details if isinstance(details, Mapping) else {}
    return Reading(
        call=call,
        status=response.status,
        message=_message(body, details, response.text),
        reason=str(body.get("reason") or ""),
        kind=str(details.get("kind") or ""),
        name=str(details.get("name") or ""),
        causes=_causes(details),
        retry_after=response.retry_after,
    )


def _message(body: Mapping[str, Any], details: Mapping[str, Any], text: str) -> str:
    """The server's words, without the name of the one object asked for: many pods with one trouble are one problem."""
    message = str(body.get("message") or text)
    named = f'{details.get("kind")} "{details.get("name")}" is forbidden: '
    return message.removeprefix(named)[:_LONGEST]


def _causes(details: Mapping[str, Any]) -> dict[str, str]:
    causes = details.get("causes")
    found: Sequence[Any] = causes if isinstance(causes, Sequence) else ()
    return {str(c.get("reason") or ""): str(c.get("message") or "") for c in found if isinstance(c, Mapping)}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table. `when` is for people."""

    when: str
    fits: Callable[[Reading], bool]
    result: Callable[[Reading], Result]


def _is_of_a_budget(r: Reading) -> bool:
    """Up to 1.34 a 403 has no cause, only the budget that it is about (kind in the singular; RBAC's is the plural)."""
    return _BUDGET_CAUSE in r.causes or (r.status == 403 and r.kind == _BUDGET_KIND)


def _blocked(r: Reading) -> Result:
    message = r.causes.get(_BUDGET_CAUSE) or r.message
    named = _NAMED_BUDGET.search(message)
    name = named[1] if named else r.name if r.kind == _BUDGET_KIND else ""
    return Blocked(message, BudgetRef(r.call.namespace, name) if name else None)


def _forbidden(r: Reading) -> Result:
    return Forbidden(f"may not {r.call.verb} {r.call.resource}: {r.message or 'no reason given'}")


def _nobody(r: Reading) -> Result:
    return Unauthenticated(f"the request came to the API server without an identity ({r.message})")


def _conflict(r: Reading) -> Result:
    return Conflict(r.message or f"status {r.status}")


def _refused(r: Reading) -> Result:
    return Refused(f"{r.call.verb} {r.call.resource}: {r.status} {r.message}".rstrip())


def _passing(r: Reading) -> Result:
    return Passing(f"the API server failed ({r.status} {r.message})".replace(" )", ")"))


ROWS: Sequence[Row] = (
    Row("2xx", lambda r: 200 <= r.status < 300, lambda _: Done()),
    Row("404 of the object", lambda r: r.status == 404 and r.name != "", lambda _: Absent()),
    Row("409 on the UID", lambda r: r.status == 409 and _UID_DIFFERS in r.message, lambda _: Absent()),
    Row("409", lambda r: r.status == 409, _conflict),
    Row("422 of a patch: a test in it failed", lambda r: r.status == 422 and r.call.method == "PATCH", _conflict),
    Row("429 or 403 of a budget", lambda r: r.status in (429, 403) and _is_of_a_budget(r), _blocked),
    Row(
        "429",
        lambda r: r.status == 429,
        lambda r: Throttled(timedelta(seconds=_DEFAULT_RETRY if r.retry_after is None else r.retry_after)),
    ),
    Row(
        "403, the namespace is going",
        lambda r: r.status == 403 and "NamespaceTerminating" in r.causes,
        lambda _: NamespaceTerminating(),
    ),
    Row("403 to nobody: our header was lost on the way", lambda r: r.status == 403 and _NOBODY in r.message, _nobody),
    Row("403", lambda r: r.status == 403, _forbidden),
    Row("401", lambda r: r.status == 401, lambda r: Unauthenticated(r.message or "no reason given")),
    Row(
        "500 of several budgets",
        lambda r: r.status == 500 and _SEVERAL in r.message,
        lambda r: SeveralBudgets(r.message),
    ),
    Row("408 and 5xx", lambda r: r.status == 408 or r.status >= 500, _passing),
    Row("anything else", lambda _: True, _refused),
)


def _of_failure(failure: Failure) -> Result:
    match failure.trouble:
        case Trouble.SILENT:
            return Unknown(failure.message)
        case Trouble.NO_TOKEN:
            return Unauthenticated(failure.message)
        case Trouble.UNREACHABLE | Trouble.BROKEN:
            return Passing(failure.message)
