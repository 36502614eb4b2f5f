"""Before a real cluster is drained: said which, and on a terminal agreed to."""

import sys
from collections.abc import Sequence

import typer

from evac.errors import InputError
from evac.rendering.words import clean, enumerated


def agree(names: Sequence[str], kubeconfig: str | None, context: str | None, *, is_agreed: bool) -> None:
    """Say what is going to be drained for real; on a terminal it has to be agreed to. Raises `InputError`."""
    from evac.kubeconfig import target_of  # noqa: PLC0415 - loads the Kubernetes client

    target = target_of(kubeconfig, context)
    typer.echo(f"evac: draining for real: {enumerated([clean(name) for name in names]) or 'nothing'}", err=True)
    typer.echo(f"  of cluster {clean(target.cluster)}, {clean(target.server)}", err=True)
    typer.echo(f"  by context {clean(target.context)} of {clean(target.place)}", err=True)
    if is_agreed or sys.stdin is None or not sys.stdin.isatty():
        return
    if not typer.confirm("drain it?", err=True):
        raise InputError(
            "not agreed to: nothing was touched", cure="--yes goes on without asking; --dry-run only looks"
        )
