"""What is watched stays current, and says so when it is not."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lambdas.adapters.kubernetes.calls import Call, Failure, Reply, Response, Trouble
from lambdas.adapters.kubernetes.kinds import pods_on
from lambdas.adapters.kubernetes.pauses import Pause
from lambdas.adapters.kubernetes.reflector import Reflector
from lambdas.adapters.kubernetes.store import Store
from lambdas.domain.values.kubernetes import Pod
from lambdas.domain.values.observation import Freshness, Listing
from tests.unit.kubernetes_adapter.scripted import (
    BROKEN,
    REFUSED,
    Scripted,
    StandingClock,
    Stream,
    added,
    bookmark,
    deleted,
    error,
    listed,
    modified,
    pod,
    refused,
)

FORBIDDEN = refused(403, 'User "evac" cannot list resource "pods"')


class Watched:
    """A reflector at work on a scripted server."""

    def __init__(self, server: Scripted) -> None:
        self.server = server
        self.told: list[Listing[Pod]] = []
        self.store: Store[Pod] = Store(self._tell)
        at_once = Pause(first=0, longest=0)
        self.reflector = Reflector("pods", pods_on("spot-a"), self.store, server, StandingClock(), at_once)

    def _tell(self) -> None:
        """As the store changes, in its thread: no state is too short to be seen."""
        self.told.append(self.store.listing())
        self.server.changed()

    def until(self, *names: str) -> None:
        """The store holds exactly these pods."""
        self.server.wait_for(lambda: self.names() == set(names), f"{names}, but {self.names()}")

    def until_asked(self, verb: str, times: int) -> None:
        self.server.wait_for(lambda: self.asked().count(verb) >= times, f"{times} times {verb}, but {self.asked()}")

    def until_why(self, text: str) -> None:
        self.server.wait_for(lambda: any(text in seen.why for seen in self.told), f"{text}, but {self.told}")

    def names(self) -> set[str]:
        return {pod.ref.name for pod in self.store.listing().items}

    def asked(self) -> list[str]:
        return [call.verb for call in self.server.asked]

    def versions(self) -> list[str]:
        return [call.query["resourceVersion"] for call in self.server.asked if call.verb == "watch"]


@contextmanager
def watched(lists: list[Reply], watches: list[Reply | Stream] | None = None) -> Iterator[Watched]:
    made = Watched(Scripted(lists, watches))
    made.reflector.start()
    yield made
    made.reflector.close()
    made.server.close()
    made.reflector.thread.join(5)


def test_what_is_listed_is_watched_from_the_version_of_the_list() -> None:
    with watched([listed(5, pod("a", 3))]) as it:
        it.until("a")
        it.until_asked("watch", 1)
        assert it.versions() == ["5"]
        assert it.store.listing().freshness is Freshness.CURRENT


def test_events_are_taken_over() -> None:
    stream: Stream = [added(pod("b", 6)), modified(pod("b", 7, labels={"x": "y"})), deleted(pod("a", 8))]
    with watched([listed(5, pod("a", 3))], [stream]) as it:
        it.until("b")
        assert it.store.listing().items[0].labels == {"x": "y"}


def test_a_watch_that_ended_is_resumed_where_it_was() -> None:
    with watched([listed(5)], [[added(pod("a", 6)), bookmark(9)], [added(pod("b", 11))]]) as it:
        it.until("a", "b")
        it.until_asked("watch", 3)
        assert it.versions() == ["5", "9", "11"]
        assert it.asked().count("list") == 1


def test_a_watch_that_broke_is_resumed_where_it_was() -> None:
    with watched([listed(5)], [[added(pod("a", 6)), BROKEN], [BROKEN], [added(pod("b", 7))]]) as it:
        it.until("a", "b")
        assert it.asked().count("list") == 1


@pytest.mark.parametrize("expired", [refused(410), [error(410)], [added(pod("x", 6)), error(410)]])
def test_a_version_that_is_too_old_means_another_list(expired: Response | Stream) -> None:
    with watched([listed(5, pod("a", 3)), listed(50, pod("b", 40))], [expired]) as it:
        it.until("b")
        it.until_asked("watch", 2)
        assert it.versions() == ["5", "50"]
        assert it.store.listing().freshness is Freshness.CURRENT


def test_a_version_that_is_always_too_old_is_not_asked_for_without_a_rest() -> None:
    expired: list[Reply | Stream] = [refused(410)] * 2
    with watched([listed(5)], expired) as it:
        it.until_why("too old to watch from")
        it.server.wait_for(lambda: it.store.listing().freshness is Freshness.CURRENT)


@pytest.mark.parametrize(
    "fault",
    [REFUSED, refused(500, "refuses connections"), refused(429, "refuses connections"), [error(500)], [BROKEN, BROKEN]],
)
def test_a_watch_that_does_not_work_is_replaced_by_lists_until_it_does(fault: Reply | Stream) -> None:
    faults: list[Reply | Stream] = [fault] * 6
    with watched([listed(5, pod("a", 3)), listed(6, pod("b", 6)), listed(7, pod("c", 7))], faults) as it:
        it.until("c")
        it.server.wait_for(lambda: it.store.listing().freshness is Freshness.CURRENT and not it.store.listing().why)
        assert Freshness.STALE in {seen.freshness for seen in it.told}
        assert it.asked().count("list") >= 3


def test_a_watch_that_is_silent_for_too_long_is_resumed() -> None:
    silent = Failure(Trouble.SILENT, "no answer in time")
    with watched([listed(5)], [[bookmark(6), silent], [added(pod("a", 7))]]) as it:
        it.until("a")
        assert it.versions()[:2] == ["5", "6"]


def test_what_we_may_not_list_is_unreadable_and_named() -> None:
    with watched([FORBIDDEN]) as it:
        it.until_why("may not list pods: ")
        assert it.store.listing().freshness is Freshness.UNREADABLE
        assert it.asked() == ["list"]


def test_what_we_may_list_and_not_watch_is_stale_and_named() -> None:
    with watched([listed(5, pod("a", 3))], [refused(403, "no")]) as it:
        it.until_why("may not watch pods: no")
        assert it.store.listing().freshness is Freshness.STALE
        assert it.names() == {"a"}


def test_a_server_that_cannot_be_reached_leaves_the_first_list_pending() -> None:
    with watched([REFUSED]) as it:
        it.until_asked("list", 3)
        assert it.store.listing().freshness is Freshness.PENDING
        assert it.store.listing().why == "refuses connections"


def test_an_object_that_cannot_be_read_harms_no_other_and_is_reported() -> None:
    broken = pod("bad", 4, creationTimestamp="yesterday")
    with watched([listed(5, broken, pod("a", 3))], [[added(pod("b", 6))]]) as it:
        it.until("a", "b")
        assert it.store.listing().freshness is Freshness.CURRENT
        assert "pods default/bad (ValueError" in it.store.listing().why


def test_an_object_that_can_be_read_again_is_no_longer_reported() -> None:
    stream: Stream = [added(pod("a", 6, creationTimestamp="yesterday")), modified(pod("a", 7))]
    with watched([listed(5)], [stream]) as it:
        it.until("a")
        assert it.store.listing().why == ""


@pytest.mark.parametrize("line", [b"{", b"[]", b'"text"', b'{"type": "ADDED"}', b'{"object": {}}', b"\xff\xfe"])
def test_a_line_that_is_no_event_means_another_list(line: bytes) -> None:
    streams: list[Reply | Stream] = [[line], [line]]
    with watched([listed(5), listed(6, pod("a", 6))], streams) as it:
        it.until("a")
        it.server.wait_for(lambda: it.store.listing().freshness is Freshness.CURRENT)


def test_events_yet_to_come_are_no_trouble() -> None:
    stream: Stream = [{"type": "LATER", "object": pod("x", 6)}, b"", added(pod("a", 7))]
    with watched([listed(5)], [stream]) as it:
        it.until("a")
        assert it.store.listing().why == ""


def test_a_fault_of_ours_does_not_end_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(Scripted):
        def follow(self, call: Call) -> Iterator[bytes] | Response | Failure:
            if self.sent["watch", "pods"] == 0:
                self._note(call)
                raise RuntimeError("a fault")
            return super().follow(call)

    it = Watched(Faulty([listed(5), listed(6, pod("a", 6))]))
    it.reflector.start()
    it.until("a")
    it.reflector.close()
    it.server.close()
    it.reflector.thread.join(5)
    assert "watching pods failed" in caplog.text


def test_a_list_that_is_asked_for_is_begun_then_and_the_watch_goes_on() -> None:
    with watched([listed(5, pod("a", 3)), listed(9, pod("a", 3), pod("b", 8))]) as it:
        it.until("a")
        it.until_asked("watch", 1)
        first = it.store.listed_at
        assert first is not None
        assert it.reflector.refresh() is None
        assert it.names() == {"a", "b"}
        assert it.store.listed_at is not None
        assert it.store.listed_at > first
        assert it.asked().count("watch") == 1


def test_a_list_that_fails_is_told_to_who_asked_for_it() -> None:
    it = Watched(Scripted([FORBIDDEN]))
    trouble = it.reflector.refresh()
    assert trouble is not None
    assert (trouble.call.verb, trouble.reply) == ("list", FORBIDDEN)


def test_a_list_that_somebody_got_ends_a_rest_at_once() -> None:
    # What we may not list is asked for again after 10 s only; nobody waits for that here.
    with watched([FORBIDDEN, listed(5, pod("a", 3))]) as it:
        it.until_why("may not list pods: ")
        assert it.reflector.refresh() is None
        it.until_asked("watch", 1)
        assert it.store.listing().freshness is Freshness.CURRENT


def test_what_ends_because_it_is_closed_is_not_called_stale() -> None:
    with watched([listed(5)]) as it:
        it.until_asked("watch", 1)
    assert Freshness.STALE not in {seen.freshness for seen in it.told}


def test_closing_ends_the_thread() -> None:
    it = Watched(Scripted([listed(5)]))
    it.reflector.start()
    it.until_asked("watch", 1)
    it.reflector.close()
    it.server.close()
    it.reflector.thread.join(5)
    assert it.asked() == ["list", "watch"]
