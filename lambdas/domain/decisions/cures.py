"""What is broken and what to do next, for a tired person at 3 a.m."""

from lambdas.contract import KUBERNETES_GROUP
from lambdas.domain.values.answers import (
    Forbidden,
    Passing,
    Refused,
    Result,
    SeveralBudgets,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.drains import Problem, Trouble


def problem_of(result: Result, doing: str) -> Problem | None:
    """The problem that an answer shows, or None where it is an ordinary one. `doing`: what was asked, in words."""
    match result:
        case Unauthenticated(message):
            return Problem(
                Trouble.UNAUTHENTICATED,
                f"{doing}: the API server does not know us (401: {message}). Is there an EKS access entry (or aws-auth "
                f"line) for the function's role, with the group {KUBERNETES_GROUP}?",
            )
        case Forbidden(message):
            return Problem(
                Trouble.FORBIDDEN,
                f"{doing}: 403: {message}. If RBAC: `evac rbac | kubectl apply -f -`; else an admission policy.",
            )
        case Refused(message):
            return Problem(Trouble.API, f"{doing}: refused ({message}). A webhook or admission policy may be why.")
        case SeveralBudgets(message):
            return Problem(
                Trouble.BUDGET, f"{doing}: {message}. The eviction API cannot decide; give each pod one budget."
            )
        case Throttled():
            return Problem(Trouble.API, f"{doing}: throttled by API priority and fairness (429)")
        case Passing(message) | Unknown(message):
            return Problem(Trouble.API, f"{doing}: {message}")
        case _:
            return None
