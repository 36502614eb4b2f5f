"""Asking a cluster some things at once, and waiting for the answers: for whoever does no more than that."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from lambdas.application.ports import Clock, Cluster
from lambdas.domain.values.actions import Action
from lambdas.domain.values.answers import Answer, Result

PATIENCE: Final = timedelta(seconds=20)


def ask(cluster: Cluster, clock: Clock, actions: Sequence[Action], within: timedelta = PATIENCE) -> list[Result | None]:
    """Carry them out side by side; each one's result, in their order, None where none came in time."""
    for action in actions:
        cluster.start(action)
    answers: dict[int, Answer] = {}
    until = clock.now() + within
    while not {id(action) for action in actions} <= answers.keys() and clock.now() < until:
        answers |= {id(answer.action): answer for answer in cluster.wait(until)}
    return [answers[id(action)].result if id(action) in answers else None for action in actions]
