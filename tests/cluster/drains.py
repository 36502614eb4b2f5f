"""A drain of the real control plane's nodes, by the function's identity with exactly the shipped role."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

from controlplane import Api, ControlPlane
from evac.memory import CollectingReporter
from lambdas.adapters.background import ThreadBackground
from lambdas.adapters.kubernetes import Endpoint, connect
from lambdas.application.evacuation import evacuate
from lambdas.application.ports import Cluster, DrainLedger
from lambdas.application.requests import Ports, Request
from lambdas.domain.values.drains import DrainRecord, PodFate
from lambdas.domain.values.journal import Happening
from lambdas.domain.values.notices import Notice, Reason
from lambdas.domain.values.settings import Settings
from lambdas.handlers.composition import AwsComposition
from lambdas.handlers.settings import Deployment
from tests.cluster.rig import CLOCK, Tokens
from tests.scenes import Json, instance_id, node

PODS = "/api/v1/namespaces/default/pods"


class PlaneComposition(AwsComposition):
    """The function's own composition, with the control plane for EKS: everything else is what runs in Lambda."""

    def __init__(self, deployment: Deployment, plane: ControlPlane) -> None:
        super().__init__(deployment)
        self._plane = plane

    def connect(self) -> Cluster:
        endpoint = Endpoint(self._plane.url, self._plane.ca_file.read_text())
        return connect(endpoint, Tokens(self._plane.token("handler")), self.clock)


@dataclass(frozen=True, slots=True)
class Drained:
    """The record, and the moment of the notice that all its seconds count from."""

    record: DrainRecord
    noticed_at: datetime
    reporter: CollectingReporter

    def told(self, happening: Happening) -> float:
        """When the one such thing happened, in seconds from the notice."""
        [entry] = self.reporter.of(happening)
        return (entry.at - self.noticed_at).total_seconds()

    def fate(self, name: str) -> PodFate:
        """One pod's."""
        return next(fate for fate in self.record.pods if fate.pod.name == name)

    def signalled(self) -> dict[str, float]:
        """When each pod had its SIGTERM, in seconds from the notice."""
        moments = {fate.pod.name: fate.signalled_at for fate in self.record.pods if fate.signalled_at}
        return {name: (moment - self.noticed_at).total_seconds() for name, moment in moments.items()}


def drained(
    plane: ControlPlane,
    name: str = "spot-a",
    *,
    age: float = 0,
    settings: Settings = Settings(),  # noqa: B008 - it is frozen
    ledger: DrainLedger | None = None,
) -> Drained:
    """Drain the node on a notice that is `age` seconds old."""
    noticed_at = CLOCK.now() - timedelta(seconds=age)
    notice = Notice(instance_id(name), Reason.SPOT_INTERRUPTION, noticed_at, noticed_at + timedelta(seconds=120))
    cluster = connect(Endpoint(plane.url, plane.ca_file.read_text()), Tokens(plane.token("handler")), CLOCK)
    background = ThreadBackground(cluster.wake)
    try:
        reporter = CollectingReporter()
        [fate] = evacuate([Request(notice)], Ports(CLOCK, cluster, background, reporter, ledger=ledger), settings)
    finally:
        background.close()
        cluster.close()
    return Drained(fate.record, noticed_at, reporter)


def settle(api: Api, manifests: list[Json], *, ready: int | None = None, total: int | None = None) -> None:
    """Make the objects, and wait for so many pods, Ready or in all."""
    for manifest in manifests:
        api.apply(manifest)
    if ready is not None:
        api.until(lambda: len([p for p in pods(api) if is_ready(p)]) == ready, timedelta(seconds=60))
    if total is not None:
        api.until(lambda: len([p for p in pods(api) if is_running(p)]) == total, timedelta(seconds=60))


def pods(api: Api, of: str = "") -> list[Json]:
    """The pods there are, perhaps of one label selector."""
    query = f"?labelSelector={of}" if of else ""
    items: list[Json] = api.get(PODS + query)[1]["items"]
    return items


def is_ready(pod: Mapping[str, Any]) -> bool:
    """Its Ready condition."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def is_running(pod: Mapping[str, Any]) -> bool:
    """Its phase."""
    return bool(pod.get("status", {}).get("phase") == "Running")


@contextmanager
def ready_counts(api: Api, of: str) -> Iterator[list[int]]:
    """Counts the Ready pods of a selector that are not on their way out, as fast as it can ask."""
    counts: list[int] = []
    is_over = Event()

    def look() -> None:
        while not is_over.is_set():
            counts.append(len([p for p in pods(api, of) if is_ready(p) and "deletionTimestamp" not in p["metadata"]]))

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield counts
    finally:
        is_over.set()
        watcher.join()


def without_pods(manifests: list[Json]) -> list[Json]:
    """A scene's controllers: here the real ones make the pods. ReplicaSets are their Deployment's."""
    return [m for m in manifests if m["kind"] not in ("Pod", "ReplicaSet")]


def room(api: Api, name: str = "od-1") -> None:
    """A second node, once the first has its pods."""
    api.apply(node(name))


def budget_is(api: Api, name: str, **status: int) -> None:
    """Wait until the disruption controller has counted so."""
    path = f"/apis/policy/v1/namespaces/default/poddisruptionbudgets/{name}"

    def holds() -> bool:
        found = api.get(path)[1].get("status", {})
        return bool(all(found.get(key) == value for key, value in status.items()))

    api.until(holds, timedelta(seconds=30))
