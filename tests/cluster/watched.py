"""What happens on a control plane, watched from beside: the bench's facts, each label with its namespace before it.

Law: it knows nothing of the drain; a watch that breaks fails the test, for what it missed cannot be told.
"""

import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from bench.beside.facts import BudgetSeen, Fact, PodGone, PodSeen, State
from bench.beside.fates import Fate, fates
from controlplane import Api, ControlPlane
from tests.scenes import SHUTDOWN

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """What truly became of one scene from its notice on. Seconds count from there.

    `pods`: those of the doomed nodes. `fewest`: the fewest healthy pods of a label at any moment. `exceeded`: the most
    by which a budget lacked healthy pods.
    """

    pods: Sequence[Fate]
    fewest: dict[tuple[str, str], int]
    exceeded: dict[str, int]

    @property
    def graceful(self) -> int:
        """Had the time for their whole shutdown, and were gone before the host."""
        return sum(fate.is_graceful for fate in self.pods)

    @property
    def lost(self) -> int:
        """Still there when the host was taken."""
        return sum(fate.is_killed for fate in self.pods)

    @property
    def signals(self) -> list[float]:
        """When each had its SIGTERM, in order."""
        return sorted(fate.signalled for fate in self.pods if fate.signalled is not None)

    def short(self, key: str, value: str, replicas: int) -> int:
        """The most of so many replicas that were missing at any moment."""
        return max(0, replicas - self.fewest[key, value])


class Watched:
    """Watches pods and budgets from the beginning of the `with` to its end."""

    def __init__(self, plane: ControlPlane, api: Api) -> None:
        self._plane = plane
        self._api = api
        self._lock = Lock()
        self._is_over = Event()
        self._threads: list[Thread] = []
        self._connections: list[HTTPConnection] = []
        self._broken: list[str] = []
        self._facts: list[Fact] = []

    def __enter__(self) -> Self:
        for path, read in _KINDS.items():
            _, listed = self._api.get(path)
            self._facts += [read("ADDED", item, time.time()) for item in listed["items"]]
            connection = self._open(f"{path}?watch=1&resourceVersion={listed['metadata']['resourceVersion']}")
            thread = Thread(target=self._follow, args=(path, connection, read), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        for connection in self._connections:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in self._connections:
            connection.close()

    def facts(self) -> list[Fact]:
        """All so far, in the order in which they came."""
        assert not self._broken, f"the watch was lost: {self._broken}"
        with self._lock:
            return list(self._facts)

    def story(self, namespace: str, nodes: Sequence[str], noticed_at: float, ended_at: float | None = None) -> Story:
        """What became of the scene in that namespace and of its doomed nodes until `ended_at`, by default until now."""
        facts = [f for f in self.facts() if ended_at is None or f.at <= ended_at]
        fewest: dict[tuple[str, str], int] = {}
        exceeded: dict[str, int] = {}
        for state in _states(facts, noticed_at):
            for (key, value), count in state.healthy.items():
                within, _, label = key.partition("/")
                if within == namespace:
                    fewest[label, value] = min(count, fewest.get((label, value), count))
            for name, budget in state.budgets.items():
                within, _, short = name.partition("/")
                if within == namespace:
                    exceeded[short] = max(exceeded.get(short, 0), budget.desired - state.healthy[budget.over])
        return Story(fates(facts, noticed_at, nodes), fewest, exceeded)

    def _open(self, path: str) -> HTTPSConnection:
        trust = ssl.create_default_context(cafile=str(self._plane.ca_file))
        connection = HTTPSConnection(urlsplit(self._plane.url).netloc, context=trust)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._plane.token()}"})
        self._connections.append(connection)
        return connection

    def _follow(self, path: str, connection: HTTPSConnection, read: "Reader") -> None:
        try:
            with closing(connection.getresponse()) as answer:
                while line := answer.readline():
                    event = json.loads(line)
                    fact = read(event["type"], event["object"], time.time())
                    with self._lock:
                        self._facts.append(fact)
        except (OSError, ValueError, KeyError, HTTPException) as error:
            if not self._is_over.is_set():
                self._broken.append(f"{path}: {error!r}")
        if not self._is_over.is_set():
            self._broken.append(f"{path}: ended")


def _states(facts: Sequence[Fact], since: float) -> Iterator[State]:
    """The state at that moment, and after each fact from then on."""
    state, begun = State(), False
    for fact in facts:
        if not begun and fact.at > since:
            begun = True
            yield state
        state.apply(fact)
        if begun:
            yield state
    if not begun:
        yield state


Reader = Callable[[str, Json, float], Fact]


def _pod(kind: str, item: Json, at: float) -> Fact:
    metadata = item["metadata"]
    if kind == "DELETED":
        return PodGone(at, metadata["uid"])
    namespace = metadata["namespace"]
    conditions = item.get("status", {}).get("conditions", ())
    return PodSeen(
        at=at,
        uid=metadata["uid"],
        node=item["spec"].get("nodeName", ""),
        labels=frozenset((f"{namespace}/{key}", value) for key, value in metadata.get("labels", {}).items()),
        is_ready=any(c["type"] == "Ready" and c["status"] == "True" for c in conditions),
        is_leaving="deletionTimestamp" in metadata,
        grace_given=metadata.get("deletionGracePeriodSeconds", 0),
        grace=item["spec"].get("terminationGracePeriodSeconds", 30),
        shutdown=float(metadata.get("annotations", {}).get(SHUTDOWN, "1s").rstrip("s")),
    )


def _budget(kind: str, item: Json, at: float) -> Fact:
    namespace = item["metadata"]["namespace"]
    [(key, value)] = item["spec"]["selector"]["matchLabels"].items()
    desired = item.get("status", {}).get("desiredHealthy", 0) if kind != "DELETED" else 0
    return BudgetSeen(at, f"{namespace}/{item['metadata']['name']}", (f"{namespace}/{key}", value), desired)


_KINDS: dict[str, Reader] = {"/api/v1/pods": _pod, "/apis/policy/v1/poddisruptionbudgets": _budget}
