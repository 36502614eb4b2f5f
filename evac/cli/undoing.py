"""Carrying out `evac undo`: which nodes, what is taken off, and how it went."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import typer

from evac.apiserver import NODES, NotReadable, list_raw, read_node_raw
from evac.errors import InputError
from evac.kubeconfig import cluster_of
from evac.rendering.words import clean
from evac.restoring import Ours, restore, what_is_ours
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import KubernetesCluster
from lambdas.adapters.kubernetes.calls import Server
from lambdas.application.ports import Clock
from lambdas.contract import LABEL_DRAINING
from lambdas.domain.decisions.cures import problem_of
from lambdas.domain.values.answers import Absent, Done, Result
from lambdas.domain.values.manifests import read_node


def undo_nodes(node: str | None, *, every: bool, kubeconfig: str | None, context: str | None, is_dry_run: bool) -> int:
    """Carry it out; the exit code comes back. Raises `InputError`."""
    if (node is None) is not every:
        raise InputError("give the name of one node, or --all", cure="evac undo --all --dry-run lists what is marked")
    clock = SystemClock()
    cluster = cluster_of(kubeconfig, context, clock)
    try:
        found = list(_marked(cluster.server) if node is None else _named(cluster.server, node))
        return _undo(cluster, clock, found, is_dry_run=is_dry_run, is_named=node is not None)
    finally:
        cluster.close()


def _marked(server: Server) -> Iterator[Ours]:
    nodes = list_raw(server, NODES, labels=LABEL_DRAINING)
    if isinstance(nodes, NotReadable):
        raise InputError(nodes.why, cure="name the node, or ask for the right to list nodes")
    return (what_is_ours(read_node(raw)) for raw in nodes)


def _named(server: Server, name: str) -> Iterator[Ours]:
    raw = read_node_raw(server, name)
    if raw is None:
        raise InputError(f"there is no node {name}", cure="evac undo --all --dry-run lists the marked ones")
    yield what_is_ours(read_node(raw))


def _undo(cluster: KubernetesCluster, clock: Clock, found: Sequence[Ours], *, is_dry_run: bool, is_named: bool) -> int:
    chosen = [ours for ours in found if _is_to_be_undone(ours, clock.now(), is_named=is_named)]
    if not found:
        typer.echo(f"no node carries our label ({LABEL_DRAINING}): nothing to undo")
    if is_dry_run:
        for ours in chosen:
            typer.echo(f"{_title(ours)}: would take off {_taken_off(ours)}")
        return 0
    results = restore(cluster, clock, [ours.node_name for ours in chosen])
    return max([_report(ours, results[ours.node_name]) for ours in chosen], default=0)


def _is_to_be_undone(ours: Ours, now: datetime, *, is_named: bool) -> bool:
    if not ours.items:
        typer.echo(f"{_title(ours)}: nothing of ours is on it")
        return False
    if ours.is_being_drained(now) and not is_named:
        typer.echo(f"{_title(ours)}: is being drained right now, and left alone; name it to undo it all the same")
        return False
    return True


def _report(ours: Ours, result: Result | None) -> int:
    match result:
        case Done():
            typer.echo(f"{_title(ours)}: took off {_taken_off(ours)}")
            return 0
        case Absent():
            typer.echo(f"{_title(ours)}: is gone, and its marks with it")
            return 0
        case None:
            typer.echo(f"{_title(ours)}: no answer in time; run it again", err=True)
        case other:
            problem = problem_of(other, f"restoring {ours.node_name}")
            typer.echo(f"{_title(ours)}: {clean(problem.message if problem else str(other))}", err=True)
    return 1


def _title(ours: Ours) -> str:
    return clean(ours.node_name)


def _taken_off(ours: Ours) -> str:
    stays = f" ({', '.join(ours.stays)} stays: not ours)" if ours.stays else ""
    return f"{', '.join(ours.items)}{stays}"
