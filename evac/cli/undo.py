"""`evac undo`: gives released pods back, takes our marks off nodes, and does nothing else."""

from typing import Annotated

import typer


def undo(
    node: Annotated[
        str | None, typer.Argument(metavar="NODE", help="The node, by its name.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every node and pod that carries our label.")] = False,
    kubeconfig: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Default: $KUBECONFIG, else ~/.kube/config.", show_default=False),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Default: its current context.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be taken off; change nothing.")] = False,
) -> None:
    """Give released pods back to their ReplicaSets, and take off nodes what carries our mark: label, taint, load
    balancer exclusion, and the cordon if it is ours.

    A node that was cordoned before us stays cordoned. Nodes whose host is gone need no undoing. A ReplicaSet that has
    a pod back has one more than it wants, and lets one go: its replacement while that is not Ready, else the old one.
    With --all also pods on nodes that carry no mark any more are given back.

    \b
    Examples:
      evac undo --all --dry-run
      evac undo ip-10-0-1-2.ec2.internal

    Exit codes: 0 done, or nothing to do; 1 a pod or a node could not be; 2 wrong usage or no way into the cluster.
    """
    from evac.cli.undoing import undo_nodes  # noqa: PLC0415 - loads the Kubernetes client

    raise typer.Exit(undo_nodes(node, every=every, kubeconfig=kubeconfig, context=context, is_dry_run=dry_run))
