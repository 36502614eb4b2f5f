"""Giving released pods back, and saying how that went."""

from collections.abc import Collection, Mapping, Sequence

import typer

from evac.rendering.words import clean, folded, plural
from evac.taking_back import Returned, take_back
from lambdas.application.ports import Clock, Cluster
from lambdas.domain.decisions.cures import doing, problem_of
from lambdas.domain.values.actions import Delete
from lambdas.domain.values.kubernetes import Pod


def give_back(by_node: Mapping[str, Sequence[Pod]], cluster: Cluster, clock: Clock) -> Collection[str]:
    """Give the pods of each node back; the nodes that keep some, for a reason that is said."""
    pods = [pod for pods in by_node.values() for pod in pods]
    done = take_back(cluster, clock, pods) if pods else []
    kept = set()
    for node_name in by_node:
        returned = [r for r in done if r.pod.node_name == node_name]
        _say(node_name, returned)
        if not all(r.is_served for r in returned):
            kept.add(node_name)
    return kept


def _say(node_name: str, returned: Sequence[Returned]) -> None:
    served = [r for r in returned if r.is_served and r.action is not None]
    deleted = [r.pod for r in served if isinstance(r.action, Delete)]
    given = [r.pod for r in served if not isinstance(r.action, Delete)]
    if given:
        typer.echo(f"{clean(node_name)}: gave back {_these(given)}; each ReplicaSet keeps as many pods as it wants")
    if deleted:
        typer.echo(f"{clean(node_name)}: deleted {_these(deleted)}, whose ReplicaSet is no more")
    failures: dict[str, list[Pod]] = {}
    for r in returned:
        if not r.is_served:
            failures.setdefault(_why(r), []).append(r.pod)
    for why, pods in failures.items():
        line = f"{clean(node_name)}: {_these(pods)} not given back, so its marks stay: {clean(why)}; run it again"
        typer.echo(line, err=True)


def _these(pods: Sequence[Pod]) -> str:
    return f"{plural(len(pods), 'released pod')} ({' '.join(folded([str(pod.ref) for pod in pods]))})"


def _why(returned: Returned) -> str:
    if returned.result is None or returned.action is None:
        return "no answer in time"
    problem = problem_of(returned.result, doing(returned.action))
    return problem.message if problem else getattr(returned.result, "message", type(returned.result).__name__)


def say_tidied(left: int) -> None:
    """Pods whose ReplicaSet has not chosen yet keep their deletion cost."""
    if left:
        typer.echo(
            f"{plural(left, 'pod')} given back still with our label and a low deletion cost, until there are no more "
            "pods than wanted: the next evac undo --all, or the sweeper, takes them off"
        )
