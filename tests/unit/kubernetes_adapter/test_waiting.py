"""The loop's wait, the lanes that answer it, and the pauses between tries."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from lambdas.adapters.kubernetes.lanes import Lane
from lambdas.adapters.kubernetes.mailbox import Mailbox
from lambdas.adapters.kubernetes.pauses import Pause
from lambdas.domain.values.actions import Action, Observe
from lambdas.domain.values.answers import Answer, Done

AT = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
PATIENCE = 5.0


class Still:
    """A clock that stands."""

    def now(self) -> datetime:
        return AT


def answer(name: str = "spot-a") -> Answer:
    return Answer(Observe(name), Done(), AT)


def aside(what: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=what, daemon=True)
    thread.start()
    return thread


def test_a_wait_whose_moment_has_passed_returns_at_once_with_nothing() -> None:
    assert list(Mailbox(Still()).wait(AT)) == []


def test_what_came_before_the_wait_ends_it_at_once_and_is_handed_out_once() -> None:
    mailbox = Mailbox(Still())
    first, second = answer(), answer()
    mailbox.put(first)
    mailbox.put(second)
    assert list(mailbox.wait(LATER)) == [first, second]
    assert list(mailbox.wait(AT)) == []


def test_a_change_before_the_wait_ends_it_once() -> None:
    mailbox = Mailbox(Still())
    mailbox.changed()
    mailbox.changed()
    assert list(mailbox.wait(LATER)) == []
    waits = aside(lambda: mailbox.wait(LATER))
    waits.join(0.05)
    assert waits.is_alive()
    mailbox.changed()
    waits.join(PATIENCE)
    assert not waits.is_alive()


def test_an_answer_ends_a_wait_that_has_begun() -> None:
    mailbox = Mailbox(Still())
    got: list[Answer] = []
    waits = aside(lambda: got.extend(mailbox.wait(LATER)))
    mailbox.put(answer())
    waits.join(PATIENCE)
    assert got == [answer()]


def finish(lane: Lane[Action]) -> None:
    for thread in lane.threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_actions_in_a_lane_are_carried_out_once_each_and_side_by_side() -> None:
    together = threading.Barrier(3)
    done: list[Action] = []

    def work(action: Action) -> None:
        together.wait(PATIENCE)
        done.append(action)

    lane = Lane("test", 3, work)
    actions = [Observe(f"n-{i}") for i in range(9)]
    for action in actions:
        assert lane.submit(action)
    deadline = threading.Event()
    while len(done) < 9 and not deadline.wait(0.001):
        assert len(set(map(id, done))) == len(done)
    assert sorted(map(id, done)) == sorted(map(id, actions))
    lane.close()
    finish(lane)


def test_a_lane_makes_no_more_threads_than_it_needs() -> None:
    free = threading.Semaphore(0)
    lane: Lane[Action] = Lane("one-by-one", 8, lambda _: free.release())
    for number in range(20):
        lane.submit(Observe(f"n-{number}"))
        assert free.acquire(timeout=PATIENCE)
        while lane_is_busy(lane):
            pass
    assert len(lane.threads) == 1
    lane.close()
    finish(lane)


def lane_is_busy(lane: Lane[Action]) -> bool:
    return lane.idle == 0


def test_a_closed_lane_takes_nothing_and_drops_what_has_not_begun() -> None:
    begun, go_on = threading.Event(), threading.Event()
    worked: list[Action] = []

    def work(action: Action) -> None:
        worked.append(action)
        begun.set()
        go_on.wait(PATIENCE)

    lane = Lane("test", 1, work)
    lane.submit(Observe("first"))
    begun.wait(PATIENCE)
    lane.submit(Observe("second"))
    lane.close()
    go_on.set()
    finish(lane)
    assert worked == [Observe("first")]
    assert not lane.submit(Observe("third"))


def test_where_the_system_has_no_threads_left_the_action_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    lane: Lane[Action] = Lane("test", 2, lambda _: None)
    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert not lane.submit(Observe("spot-a"))


def test_pauses_grow_to_a_bound_and_begin_anew() -> None:
    pause = Pause(first=0.5, longest=5, growth=2)
    seconds = [pause.next() for _ in range(8)]
    assert 0.375 <= seconds[0] <= 0.625
    assert all(4 * 0.75 <= s <= 5 for s in seconds[4:])
    pause.reset()
    assert pause.next() <= 0.625
