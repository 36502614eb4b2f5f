"""`evac rbac`: the rights that the function needs inside a cluster, ready for `kubectl apply -f -`."""

from enum import Enum
from typing import Annotated

import typer


class Form(Enum):
    """How manifests are printed."""

    YAML = "yaml"
    JSON = "json"


def rbac(
    output: Annotated[Form, typer.Option(help="How to print them.")] = Form.YAML,
    without_delete: Annotated[
        bool,
        typer.Option(
            "--without-delete",
            help="Leave out the right to delete pods: a pod that its PDB holds, or that has several, then dies with"
            " the host.",
        ),
    ] = False,
) -> None:
    """Print the ClusterRole and ClusterRoleBinding that the function needs.

    \b
    Apply them:      evac rbac | kubectl apply -f -
    Take them away:  evac rbac | kubectl delete -f -
    """
    import json  # noqa: PLC0415 - this command alone

    from evac.rbac import manifests, render  # noqa: PLC0415 - this command alone

    if output is Form.YAML:
        typer.echo(render(deletes=not without_delete), nl=False)
        return
    items = manifests(deletes=not without_delete)
    typer.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2))
