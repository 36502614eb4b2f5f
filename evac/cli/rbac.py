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
    no_release: Annotated[
        bool,
        typer.Option(
            "--no-release",
            help="Leave out what releases need, the right to patch pods and its admission policy: pods are then evicted"
            " before they are replaced.",
        ),
    ] = False,
) -> None:
    """Print the ClusterRole and ClusterRoleBinding that the function needs, and the ValidatingAdmissionPolicy with its
    binding that allows it the patches of a release and no others of pods (Kubernetes 1.30 and newer).

    \b
    Apply them:      evac rbac | kubectl apply -f -
    Take them away:  evac rbac | kubectl delete -f -
    """
    import json  # noqa: PLC0415 - this command alone

    from evac.rbac import manifests, render  # noqa: PLC0415 - this command alone

    if output is Form.YAML:
        typer.echo(render(deletes=not without_delete, releases=not no_release), nl=False)
        return
    items = manifests(deletes=not without_delete, releases=not no_release)
    typer.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2))
