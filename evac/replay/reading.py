"""A real cluster as a scenario, for a dry run: read once, changed never."""

from evac.apiserver import NotReadable, list_raw
from evac.errors import InputError
from evac.kubeconfig import cluster_of
from evac.scenario.collecting import Collection, Scenario
from evac.scenario.kinds import ALSO_USED, KINDS
from evac.scenario.shapes import ShapeError
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes.calls import Server

_NEEDED = frozenset({"Node", "Pod"})


def read_cluster(kubeconfig: str | None, context: str | None) -> Scenario:
    """Everything that the sample command prints, read with the person's own rights. Raises `InputError`."""
    cluster = cluster_of(kubeconfig, context, SystemClock())
    try:
        return scenario_of(cluster.server)
    finally:
        cluster.close()


def scenario_of(server: Server) -> Scenario:
    """The scenario that a server's lists make: a kind that may not be listed is unknown, an empty list is empty."""
    collection, known = Collection(), set()
    for kind in (*KINDS, *ALSO_USED):
        listed = list_raw(server, kind)
        if isinstance(listed, NotReadable):
            if kind.name in _NEEDED:
                raise InputError(listed.why, cure="without the right to list nodes and pods there is nothing to replay")
            continue
        known.add(kind.name)
        for item in listed:
            _take(item, collection)
    return collection.scenario(known)


def _take(item: dict[str, object], collection: Collection) -> None:
    """An object that is not what the API reference says is left out, and named: it must not end the dry run."""
    try:
        collection.take(item)
    except ShapeError as error:
        collection.notes.append(f"left out: {error.message}")
