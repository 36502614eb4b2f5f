"""Carrying out `evac undo`: which nodes and pods, what is taken off and given back, and how it went."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import typer

from evac.apiserver import NODES, NotReadable, list_raw, read_node_raw
from evac.cli.returning import give_back, say_tidied
from evac.errors import InputError
from evac.kubeconfig import cluster_of
from evac.rendering.words import clean, folded, plural
from evac.restoring import Ours, restore, what_is_ours
from evac.taking_back import find_released, is_released, tidy_up
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Server
from lambdas.application.ports import Clock, Cluster
from lambdas.contract import LABEL_DRAINING
from lambdas.domain.decisions.cures import doing, problem_of
from lambdas.domain.values.actions import ListReleased, Restore
from lambdas.domain.values.answers import Absent, Done, Found, Result
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.manifests import read_node


def undo_nodes(node: str | None, *, every: bool, kubeconfig: str | None, context: str | None, is_dry_run: bool) -> int:
    """Carry it out; the exit code comes back. Raises `InputError`."""
    if (node is None) is not every:
        raise InputError("give the name of one node, or --all", cure="evac undo --all --dry-run lists what is marked")
    clock = SystemClock()
    cluster = cluster_of(kubeconfig, context, clock)
    try:
        found = list(_marked(cluster.server) if node is None else _named(cluster.server, node))
        return undo_found(found, cluster, clock, is_dry_run=is_dry_run, is_named=node is not None)
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


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is undone: nodes, and pods on them or, with --all, on any node that carries no mark (any more)."""

    nodes: tuple[Ours, ...]
    pods: tuple[Pod, ...]

    @property
    def released(self) -> dict[str, list[Pod]]:
        """The released pods by their nodes."""
        by_node: dict[str, list[Pod]] = {}
        for pod in filter(is_released, self.pods):
            by_node.setdefault(pod.node_name, []).append(pod)
        return by_node


def undo_found(found: Sequence[Ours], cluster: Cluster, clock: Clock, *, is_dry_run: bool, is_named: bool) -> int:
    """Undo the nodes found, and the releases of pods that go with them; the exit code comes back."""
    pods, code = _released(cluster, clock)
    chosen = _choose(found, pods, clock.now(), is_named=is_named)
    if not found and not chosen.pods:
        typer.echo(f"no node carries our label ({LABEL_DRAINING}): nothing to undo")
    if is_dry_run:
        _rehearse(chosen)
        return code
    return max(code, _carry_out(chosen, cluster, clock))


def _released(cluster: Cluster, clock: Clock) -> tuple[Sequence[Pod], int]:
    """All pods that carry our label; where that is not known it is said, and nodes are undone all the same."""
    result = find_released(cluster, clock)
    if isinstance(result, Found):
        return result.pods, 0
    problem = problem_of(result, doing(ListReleased())) if result else None
    typer.echo(f"released pods are not looked for: {clean(problem.message if problem else 'no answer')}", err=True)
    return (), 1


def _choose(found: Sequence[Ours], pods: Sequence[Pod], now: datetime, *, is_named: bool) -> _Chosen:
    there = {pod.node_name for pod in pods}
    nodes = [ours for ours in found if _is_to_be_undone(ours, now, is_named=is_named, has_pods=ours.node_name in there)]
    names, marked = {ours.node_name for ours in nodes}, {ours.node_name for ours in found}
    on_them = [p for p in pods if p.node_name in names or (not is_named and p.node_name not in marked)]
    return _Chosen(tuple(ours for ours in nodes if ours.items), tuple(on_them))


def _is_to_be_undone(ours: Ours, now: datetime, *, is_named: bool, has_pods: bool) -> bool:
    if not ours.items and not has_pods:
        typer.echo(f"{_title(ours)}: nothing of ours is on it")
        return False
    if ours.is_being_drained(now) and not is_named:
        typer.echo(f"{_title(ours)}: is being drained right now, and left alone; name it to undo it all the same")
        return False
    return True


def _rehearse(chosen: _Chosen) -> None:
    for node_name, pods in chosen.released.items():
        names = " ".join(folded([str(pod.ref) for pod in pods]))
        typer.echo(f"{clean(node_name)}: would give back {plural(len(pods), 'released pod')}: {names}")
    for ours in chosen.nodes:
        typer.echo(f"{_title(ours)}: would take off {_taken_off(ours)}")


def _carry_out(chosen: _Chosen, cluster: Cluster, clock: Clock) -> int:
    """Pods first: nobody would give them back on a node that carries no mark. One that keeps some keeps its marks."""
    kept = give_back(chosen.released, cluster, clock)
    nodes = [ours for ours in chosen.nodes if ours.node_name not in kept]
    results = restore(cluster, clock, [ours.node_name for ours in nodes])
    codes = [_report(ours, results[ours.node_name]) for ours in nodes]
    late = _Chosen((), _released_meanwhile({ours.node_name for ours in nodes}, cluster, clock))
    kept = [*kept, *give_back(late.released, cluster, clock)]
    pods = (*chosen.pods, *late.pods)
    say_tidied(tidy_up(cluster, clock, pods) if pods else 0)
    return max([*codes, 1 if kept else 0])


def _released_meanwhile(node_names: Collection[str], cluster: Cluster, clock: Clock) -> tuple[Pod, ...]:
    """By a drain that was still going on: only our mark's absence calls it off."""
    result = find_released(cluster, clock) if node_names else None
    found = result.pods if isinstance(result, Found) else ()
    return tuple(pod for pod in found if pod.node_name in node_names and is_released(pod))


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
            problem = problem_of(other, doing(Restore(ours.node_name)))
            typer.echo(f"{_title(ours)}: {clean(problem.message if problem else str(other))}", err=True)
    return 1


def _title(ours: Ours) -> str:
    return clean(ours.node_name)


def _taken_off(ours: Ours) -> str:
    stays = f" ({', '.join(ours.stays)} stays: not ours)" if ours.stays else ""
    return f"{', '.join(ours.items)}{stays}"
