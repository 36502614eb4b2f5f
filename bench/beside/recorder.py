"""Watches the API and writes down what it sees. It knows no tool, and is no part of any.

A watch that breaks fails the run: what it would have missed cannot be told apart from what did not happen.
"""

import json
import ssl
import time
from collections.abc import Callable, Iterator
from http.client import HTTPSConnection
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from bench.beside.facts import BudgetSeen, Fact, HostTaken, NodeSeen, PodGone, PodSeen, SliceSeen, State
from controlplane import Api, ControlPlane, Identity
from tests.scenes import SHUTDOWN

Json = dict[str, Any]

RECORDER = Identity("recorder", user="recorder", groups=("system:masters",))

_SERVICE = "kubernetes.io/service-name"


class Recorder:
    """Four watches, one list of facts in the order in which they came, and the state they add up to."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._api = Api(plane, RECORDER.name)
        self._lock = Lock()
        self._broken: list[str] = []
        self.facts: list[Fact] = []
        self.state = State()

    def start(self) -> None:
        """Read what there is, and watch from then on."""
        for path, read in _KINDS.items():
            _, listed = self._api.get(path)
            for item in listed["items"]:
                self._note(read("ADDED", item, time.time()))
            version = listed["metadata"]["resourceVersion"]
            Thread(target=self._follow, args=(path, version, read), daemon=True).start()

    def take(self, node: str) -> None:
        """The host of that node is gone, now."""
        self._note(HostTaken(time.time(), node))

    def look(self) -> State:
        """The state of this moment; to be read at once. Raises RuntimeError where a watch has broken."""
        if self._broken:
            raise RuntimeError(f"the recorder lost its watch: {'; '.join(self._broken)}")
        return self.state

    def is_empty(self, node: str) -> bool:
        """Whether no pod is left there."""
        with self._lock:
            return not self.look().on(node)

    def _note(self, fact: Fact) -> None:
        with self._lock:
            self.facts.append(fact)
            self.state.apply(fact)

    def _follow(self, path: str, version: str, read: "Reader") -> None:
        try:
            for line in self._stream(f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=3600"):
                at = time.time()
                event = json.loads(line)
                if event["type"] == "ERROR":
                    break
                self._note(read(event["type"], event["object"], at))
        except (OSError, ValueError) as error:
            self._broken.append(f"{path}: {error!r}")
        else:
            self._broken.append(f"{path}: ended")

    def _stream(self, path: str) -> Iterator[bytes]:
        trust = ssl.create_default_context(cafile=str(self._plane.ca_file))
        connection = HTTPSConnection(urlsplit(self._plane.url).netloc, context=trust)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._plane.token(RECORDER.name)}"})
        answer = connection.getresponse()
        while line := answer.readline():
            yield line


Reader = Callable[[str, Json, float], Fact]


def _pod(kind: str, item: Json, at: float) -> Fact:
    metadata = item["metadata"]
    if kind == "DELETED":
        return PodGone(at, metadata["uid"])
    conditions = item.get("status", {}).get("conditions", ())
    return PodSeen(
        at=at,
        uid=metadata["uid"],
        node=item["spec"].get("nodeName", ""),
        labels=frozenset(metadata.get("labels", {}).items()),
        is_ready=any(c["type"] == "Ready" and c["status"] == "True" for c in conditions),
        is_leaving="deletionTimestamp" in metadata,
        grace_given=metadata.get("deletionGracePeriodSeconds", 0),
        grace=item["spec"].get("terminationGracePeriodSeconds", 30),
        shutdown=float(metadata.get("annotations", {}).get(SHUTDOWN, "1s").rstrip("s")),
    )


def _slice(kind: str, item: Json, at: float) -> Fact:
    endpoints = item.get("endpoints") or () if kind != "DELETED" else ()
    ready = tuple(it.get("nodeName", "") for it in endpoints if it["conditions"].get("ready"))
    return SliceSeen(at, item["metadata"]["name"], item["metadata"].get("labels", {}).get(_SERVICE, ""), ready)


def _budget(kind: str, item: Json, at: float) -> Fact:
    [over] = item["spec"]["selector"]["matchLabels"].items()
    desired = item.get("status", {}).get("desiredHealthy", 0) if kind != "DELETED" else 0
    return BudgetSeen(at, item["metadata"]["name"], over, desired)


def _node(kind: str, item: Json, at: float) -> Fact:
    taints = {taint["effect"] for taint in item["spec"].get("taints", ())}
    is_closed = item["spec"].get("unschedulable") or taints & {"NoSchedule", "NoExecute"}
    return NodeSeen(at, item["metadata"]["name"], kind != "DELETED" and not is_closed)


_KINDS: dict[str, Reader] = {
    "/api/v1/pods": _pod,
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": _slice,
    "/apis/policy/v1/poddisruptionbudgets": _budget,
    "/api/v1/nodes": _node,
}
