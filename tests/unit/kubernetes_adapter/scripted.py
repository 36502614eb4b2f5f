"""An API server whose every answer is written down beforehand, for faults that no real one makes on request."""

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, StreamBroken, Trouble

Json = dict[str, Any]
Stream = list[Json | bytes | Failure]

BROKEN = Failure(Trouble.BROKEN, "the connection broke")
REFUSED = Failure(Trouble.UNREACHABLE, "refuses connections")
PATIENCE = 5.0


class StandingClock:
    """A clock that moves a second each time it is read: so every moment is its own."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            self._now += timedelta(seconds=1)
            return self._now


class Scripted:
    """Lists answer `lists` one after the other, the last for ever; watches answer `watches`, then stay silent."""

    def __init__(self, lists: list[Reply], watches: list[Reply | Stream] | None = None) -> None:
        self.asked: list[Call] = []
        self._lists = deque(lists)
        self._watches = deque(watches or [])
        self._changed = threading.Condition()
        self._is_closed = False

    @property
    def sent(self) -> Counter[tuple[str, str]]:
        with self._changed:
            return Counter((call.verb, call.resource) for call in self.asked)

    def ask(self, call: Call) -> Reply:
        self._note(call)
        return self._lists.popleft() if len(self._lists) > 1 else self._lists[0]

    def follow(self, call: Call) -> Iterator[bytes] | Response | Failure:
        self._note(call)
        answer: Reply | Stream | None = self._watches.popleft() if self._watches else None
        if isinstance(answer, Response | Failure):
            return answer
        return self._lines(answer)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wait_for(self, holds: Callable[[], object], what: str = "") -> None:
        """Until something holds that a call or a change of the store brings about."""
        with self._changed:
            assert self._changed.wait_for(holds, PATIENCE), f"never: {what}"

    def changed(self) -> None:
        """To be called by a store."""
        with self._changed:
            self._changed.notify_all()

    def _note(self, call: Call) -> None:
        with self._changed:
            self.asked.append(call)
            self._changed.notify_all()

    def _lines(self, stream: Stream | None) -> Iterator[bytes]:
        for line in stream or []:
            if isinstance(line, Failure):
                raise StreamBroken(line)
            yield line if isinstance(line, bytes) else json.dumps(line).encode()
        if stream is None:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed)
            raise StreamBroken(BROKEN)


class Server(Scripted):
    """Each resource has its own replies, by verb; what is not named is an empty list."""

    def __init__(self, **replies: Sequence[Reply] | Exception) -> None:
        super().__init__([listed(1)])
        self._replies: dict[str, Any] = {name: _queue(reply) for name, reply in replies.items()}

    def ask(self, call: Call) -> Reply:
        self._note(call)
        name = f"{call.verb}_{call.resource.partition('/')[0]}"
        if name not in self._replies:
            return listed(1)
        queue = self._replies[name]
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(reply, Exception):
            raise reply
        answer: Reply = reply
        return answer


def _queue(reply: Sequence[Reply] | Exception) -> list[Reply | Exception]:
    return [reply] if isinstance(reply, Exception) else list(reply)


def pod(name: str, version: int, *, node: str = "spot-a", **metadata: Any) -> Json:
    """A pod as the API prints it."""
    of = {"namespace": "default", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version), **metadata}
    return {"kind": "Pod", "metadata": of, "spec": {"nodeName": node}, "status": {"phase": "Running"}}


def listed(version: int, *items: Json, token: str = "") -> Response:
    """A list."""
    metadata = {"resourceVersion": str(version), "continue": token}
    return Response(200, {"kind": "List", "metadata": metadata, "items": list(items)})


def added(item: Json) -> Json:
    return {"type": "ADDED", "object": item}


def modified(item: Json) -> Json:
    return {"type": "MODIFIED", "object": item}


def deleted(item: Json) -> Json:
    return {"type": "DELETED", "object": item}


def bookmark(version: int) -> Json:
    return {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": str(version)}}}


def error(code: int, message: str = "why") -> Json:
    return {"type": "ERROR", "object": {"kind": "Status", "code": code, "message": message}}


def refused(code: int, message: str = "why") -> Response:
    return Response(code, {"kind": "Status", "code": code, "message": message})
