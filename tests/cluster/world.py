"""The contract's world on a real control plane, in real time."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from controlplane import Api, ApiError, ControlPlane
from controlplane.kinds import KINDS, path_of
from lambdas.adapters.kubernetes import Endpoint, KubernetesCluster, connect
from lambdas.application.ports import Clock, Cluster
from lambdas.contract import RELEASE_GUARD
from tests.cluster.rig import CLOCK, Tokens, grant
from tests.contract.world import Json

T = TypeVar("T")


class ControlPlaneWorld:
    """An empty cluster; the ports are the function's, with exactly the shipped role."""

    def __init__(self, plane: ControlPlane, api: Api) -> None:
        self._plane = plane
        self._api = api
        self._ports: list[KubernetesCluster] = []
        grant(api)

    @property
    def clock(self) -> Clock:
        """The system's."""
        return CLOCK

    def apply(self, manifest: Json) -> Json:
        """Create."""
        return self._api.apply(manifest)

    def patch(self, kind: str, namespace: str, name: str, patch: Json) -> None:
        """Merge-patch."""
        _done(self._api.patch(_path(kind, namespace, name), patch), f"patch {kind} {name}")

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Delete."""
        body = {"propagationPolicy": "Background"}
        _done(self._api.delete(_path(kind, namespace, name), body), f"delete {kind} {name}")

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """Read."""
        status, found = self._api.get(_path(kind, namespace, name))
        return found if status == 200 else None

    def list(self, kind: str) -> list[Json]:
        """List."""
        return self._api.items(kind)

    def cluster(self) -> Cluster:
        """A port."""
        endpoint = Endpoint(self._plane.url, self._plane.ca_file.read_text())
        port = connect(endpoint, Tokens(self._plane.token("handler")), CLOCK)
        self._ports.append(port)
        return port

    def without_guard(self) -> None:
        """By deleting its binding."""
        self.delete("ValidatingAdmissionPolicyBinding", "", RELEASE_GUARD)

    def requests_of(self, cluster: Cluster) -> int:
        """Count."""
        port = next(port for port in self._ports if port is cluster)
        return sum(count for (verb, _), count in port.server.sent.items() if verb != "watch")

    def until(self, holds: Callable[[], T], within: float = 20) -> T:
        """Poll. The machine is shared: twice the time is not wrong yet."""
        return self._api.until(holds, timedelta(seconds=2 * within))

    def idle(self, seconds: float) -> None:
        """Sleep: here time is real."""
        time.sleep(seconds)

    def close(self) -> None:
        """Close all ports."""
        for port in self._ports:
            port.close()


def _path(kind: str, namespace: str, name: str) -> str:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    path: str = path_of({"kind": kind, "metadata": metadata})
    assert kind in KINDS
    return path


def _done(answer: tuple[int, object], what: str) -> None:
    if answer[0] >= 300:
        raise ApiError(what, *answer)
