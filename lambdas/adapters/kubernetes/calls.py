"""One request to the API server and what comes back, as data; and every request that this adapter makes.

Law: `verb` and `resource` are RBAC's words. What is not built here is not asked: the ClusterRole is read off this file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from lambdas.adapters.kubernetes import paths
from lambdas.contract import RELEASE_GUARD
from lambdas.domain.values.kubernetes import PodRef

Json = Mapping[str, Any]

_QUICK = 5.0
_LISTING = 10.0
_SIGNALLING = 13.0
"""An eviction that collides with others waits up to 10 s inside the server, and so may an admission webhook."""

WATCHED_FOR = 20
"""A watch is ended by the server after so many seconds and resumed: so a connection that died silently is noticed."""
_SILENCE = WATCHED_FOR + 4.0


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `namespace`: of the object that it is about; `read_timeout` in seconds."""

    verb: str
    resource: str
    path: str
    method: str = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    read_timeout: float = _QUICK
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """The server answered. `body` is {} where it is no JSON object; `text` is then its beginning."""

    status: int
    body: Json = field(default_factory=dict)
    text: str = ""
    retry_after: float | None = None


class Trouble(Enum):
    """Why there is no response."""

    UNREACHABLE = "no connection"
    BROKEN = "the connection broke"
    SILENT = "no answer in time"
    NO_TOKEN = "no token"  # noqa: S105 - says that there is none


@dataclass(frozen=True, slots=True)
class Failure:
    """There was no response. `message` says what is broken and what to look at, and never a secret."""

    trouble: Trouble
    message: str


Reply = Response | Failure


class StreamBroken(Exception):
    """A watch ended before its time."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Server(Protocol):
    """Somebody who answers calls; any thread may ask."""

    @property
    def sent(self) -> Mapping[tuple[str, str], int]:
        """How many requests have been sent, by verb and resource; 0 for those that were not."""
        ...

    def ask(self, call: Call) -> Reply:
        """The whole answer, or why there is none."""
        ...

    def follow(self, call: Call) -> Iterator[bytes] | Response | Failure:
        """The lines of a watch, or the answer where it is refused. The lines raise StreamBroken."""
        ...

    def close(self) -> None:
        """Cut all connections; whoever waits for an answer gets a Failure."""
        ...


def get_node(name: str) -> Call:
    """A node by its name. Raises BadName."""
    return Call("get", "nodes", paths.node(name))


def patch_node(name: str, operations: Sequence[Json]) -> Call:
    """A JSON patch (RFC 6902) of a node. Raises BadName."""
    content_type = "application/json-patch+json"
    return Call("patch", "nodes", paths.node(name), "PATCH", body=list(operations), content_type=content_type)


def get_pod(pod: PodRef) -> Call:
    """A pod by its name. Raises BadName."""
    return Call("get", "pods", paths.pod(pod.namespace, pod.name), namespace=pod.namespace)


def patch_pod(pod: PodRef, operations: Sequence[Json]) -> Call:
    """A JSON patch (RFC 6902) of a pod. Raises BadName."""
    path, content_type = paths.pod(pod.namespace, pod.name), "application/json-patch+json"
    return Call("patch", "pods", path, "PATCH", {}, list(operations), content_type, namespace=pod.namespace)


def get_guard(resource: str) -> Call:
    """The admission policy of ours, or its binding: `resource` is RBAC's name of the kind."""
    return Call("get", resource, f"{paths.ADMISSION}/{resource.partition('.')[0]}/{RELEASE_GUARD}")


def evict(pod: PodRef, body: Json) -> Call:
    """An eviction. Raises BadName."""
    path = paths.eviction(pod.namespace, pod.name)
    return Call("create", "pods/eviction", path, "POST", {}, body, read_timeout=_SIGNALLING, namespace=pod.namespace)


def delete_pod(pod: PodRef, body: Json) -> Call:
    """A deletion, which asks no budget. Raises BadName."""
    path = paths.pod(pod.namespace, pod.name)
    return Call("delete", "pods", path, "DELETE", {}, body, read_timeout=_SIGNALLING, namespace=pod.namespace)


def create_event(body: Json) -> Call:
    """A Kubernetes Event, in the namespace that its body names. Raises BadName."""
    namespace = body["metadata"]["namespace"]
    return Call("create", "events", paths.events(namespace), "POST", {}, body, namespace=namespace)


@dataclass(frozen=True, slots=True)
class Collection:
    """What is listed and watched: `fields` and `labels` are selectors, empty for all there is."""

    resource: str
    path: str
    fields: str = ""
    labels: str = ""

    def query(self, **more: str) -> dict[str, str]:
        """The query of a request for it."""
        query = {"fieldSelector": self.fields, "labelSelector": self.labels, **more}
        return {name: value for name, value in query.items() if value}


def list_page(of: Collection, limit: int = 0, token: str = "") -> Call:
    """A list, or a page of one; without `limit` all of it at once."""
    query = of.query(limit=str(limit or ""), **{"continue": token})
    return Call("list", of.resource, of.path, query=query, read_timeout=_LISTING)


def watch(of: Collection, version: str) -> Call:
    """What happens after `version`, with bookmarks; the server ends it after WATCHED_FOR seconds."""
    query = of.query(watch="1", resourceVersion=version, allowWatchBookmarks="true", timeoutSeconds=str(WATCHED_FOR))
    return Call("watch", of.resource, of.path, query=query, read_timeout=_SILENCE)
