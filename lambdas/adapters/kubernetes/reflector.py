"""Keeps a store current: lists, watches, resumes; where the watch does not work, lists now and then until it does.

Law: nothing that comes from the server ends the thread, and a store that is behind says so and why.
"""

import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, Server, StreamBroken, Trouble, watch
from lambdas.adapters.kubernetes.kinds import Kind, version_of
from lambdas.adapters.kubernetes.listing import Unlisted, is_expired, list_all
from lambdas.adapters.kubernetes.pauses import Pause
from lambdas.adapters.kubernetes.store import Store
from lambdas.application.ports import Clock
from lambdas.domain.values.answers import Forbidden, Unauthenticated
from lambdas.domain.values.observation import Freshness

_log = logging.getLogger(__name__)

T = TypeVar("T")

_NOW_AND_THEN = 10.0
_TOO_SHORT = 1.0
"""A watch that ends within this many seconds without a word does not work, whatever its status."""


class _Ended(Enum):
    RESUMABLE = auto()
    EARLY = auto()
    EXPIRED = auto()


class Reflector(Generic[T]):
    """One thread for one kind. `refresh` lists at once, in the caller's thread."""

    def __init__(
        self, name: str, kind: Kind[T], store: Store[T], server: Server, clock: Clock, pause: Pause | None = None
    ) -> None:
        self.store = store
        self._kind = kind
        self._server = server
        self._clock = clock
        self._pause = pause or Pause()
        self._nudge = threading.Event()
        self._beginning = threading.Lock()
        self._has_expired = False
        self._has_ended_early = False
        self._is_closed = False
        self.thread = threading.Thread(target=self._run, name=f"evac-watch-{name}", daemon=True)

    def start(self) -> None:
        """Begin, if that has not begun."""
        with self._beginning:
            if self.thread.ident is None:
                self.thread.start()

    def refresh(self) -> Unlisted | None:
        """List now and take that over; what went wrong, if anything did."""
        begun_at = self._clock.now()
        listed = list_all(self._server, self._kind)
        if isinstance(listed, Unlisted):
            return listed
        self.store.replace(listed.objects, listed.version, begun_at)
        self._nudge.set()  # a watch can be tried again at once
        return None

    def close(self) -> None:
        """End soon; a read that hangs ends when its connection is cut."""
        self._is_closed = True
        self._nudge.set()

    def _run(self) -> None:
        while not self._is_closed:
            try:
                self._step()
            except Exception:  # noqa: BLE001 - a fault of ours must not end what the drain sees by
                _log.error("watching %s failed in a way it should not", self._kind.resource, exc_info=True)
                self._give_way(self._watch_call(), Failure(Trouble.BROKEN, "a fault in reading the watch"))

    def _step(self) -> None:
        if not self.store.version and (trouble := self.refresh()):
            self._rest(trouble)
            return
        self._nudge.clear()
        call = self._watch_call()
        match self._follow(call):
            case _Ended.RESUMABLE:
                self._has_expired = False
                self._pause.reset()
            case _Ended.EARLY:
                pass  # once more at once: connections break at any time
            case _Ended.EXPIRED if not self._has_expired:
                self._has_expired = True
                self.store.forget_version()
            case _Ended.EXPIRED:
                self._give_way(call, Failure(Trouble.BROKEN, "what was just listed is too old to watch from"))
            case reply:
                self._give_way(call, reply)

    def _give_way(self, call: Call, reply: Reply) -> None:
        self.store.forget_version()
        self._rest(Unlisted(call, reply))

    def _watch_call(self) -> Call:
        return watch(self._kind.collection, self.store.version)

    def _follow(self, call: Call) -> _Ended | Reply:
        """Watch until it ends."""
        began = time.monotonic()
        stream = self._server.follow(call)
        if isinstance(stream, Response | Failure):
            return _Ended.EXPIRED if is_expired(stream) else stream
        self.store.mark(Freshness.CURRENT)
        heard = 0
        try:
            for event in _events(stream):
                heard += 1
                if event["type"] == "ERROR":
                    return self._error(event["object"])
                self._take(event["type"], event["object"])
            ended: Reply = Failure(Trouble.BROKEN, f"the watch of {self._kind.resource} ends as soon as it begins")
        except StreamBroken as error:
            ended = error.failure
        if heard > 0 or time.monotonic() - began > _TOO_SHORT:
            self._has_ended_early = False
            return _Ended.RESUMABLE
        self._has_ended_early = not self._has_ended_early
        return _Ended.EARLY if self._has_ended_early else ended

    def _take(self, event: str, item: Mapping[str, Any]) -> None:
        match event:
            case "ADDED" | "MODIFIED":
                self.store.put(self._kind.seen(item))
            case "DELETED":
                seen = self._kind.seen(item)
                self.store.remove(seen.key, seen.version)
            case _:  # BOOKMARK, and what is yet to come
                pass
        if version := version_of(item):
            self.store.seen_up_to(version)

    def _error(self, status: Mapping[str, Any]) -> _Ended | Reply:
        code = status.get("code")
        reply = Response(code if isinstance(code, int) else 500, status)
        return _Ended.EXPIRED if is_expired(reply) else reply

    def _rest(self, trouble: Unlisted) -> None:
        """Say what is wrong, and wait; what we may not do is asked again seldom."""
        if self._is_closed:
            return
        result = result_of(trouble.call, trouble.reply)
        why = str(getattr(result, "message", "") or f"{trouble.call.verb} {trouble.call.resource} failed")
        is_denied = isinstance(result, Forbidden | Unauthenticated)
        self.store.mark(self._freshness_after(trouble, is_denied=isinstance(result, Forbidden)), why)
        self._nudge.wait(_NOW_AND_THEN if is_denied else self._pause.next())
        self._nudge.clear()

    def _freshness_after(self, trouble: Unlisted, *, is_denied: bool) -> Freshness:
        if is_denied and trouble.call.verb == "list":
            return Freshness.UNREADABLE
        return Freshness.PENDING if self.store.listed_at is None else Freshness.STALE


def _events(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """Each line, parsed once. What is no event means that the stream cannot be believed. Raises StreamBroken."""
    for line in lines:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise StreamBroken(Failure(Trouble.BROKEN, "a line of the watch is no JSON")) from error
        if not isinstance(event, dict) or not isinstance(event.get("object"), dict) or "type" not in event:
            raise StreamBroken(Failure(Trouble.BROKEN, "a line of the watch is no event"))
        yield event
