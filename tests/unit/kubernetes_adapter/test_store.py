"""Whatever comes in whatever order, what is newer counts."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lambdas.adapters.kubernetes.store import Seen, Store
from lambdas.domain.values.observation import Freshness

AT = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)

History = list[tuple[str, int | None]]
"""What happened, oldest first: a key and its new value, None where it was deleted. The place is the version."""


def after(history: History, version: int) -> dict[str, int]:
    """The truth as of a version."""
    truth: dict[str, int] = {}
    for key, value in history[:version]:
        if value is None:
            truth.pop(key, None)
        else:
            truth[key] = value
    return truth


def state(store: Store[int], keys: str = "abc") -> dict[str, int]:
    return {key: value for key in keys if (value := store.find(key)) is not None}


def take(store: Store[int], history: History, version: int) -> None:
    """The watch's event of that version."""
    key, value = history[version - 1]
    if value is None:
        store.remove(key, str(version))
    else:
        store.put(Seen(key, str(version), value))
    store.seen_up_to(str(version))


def take_list(store: Store[int], history: History, version: int) -> None:
    objects = []
    for key, value in after(history, version).items():
        last = max(i + 1 for i, (k, _) in enumerate(history[:version]) if k == key)
        objects.append(Seen(key, str(last), value))
    store.replace(objects, str(version), AT)


histories = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3)), min_size=1, max_size=12)


@given(histories, st.data())
def test_a_list_beside_a_running_watch_never_brings_back_what_is_past(history: History, data: st.DataObject) -> None:
    store: Store[int] = Store(lambda: None)
    first = data.draw(st.integers(0, len(history)), "first list")
    take_list(store, history, first)
    newest = first
    for version in range(first + 1, len(history) + 1):
        if data.draw(st.booleans(), f"a list before event {version}"):
            listed = data.draw(st.integers(first, len(history)), "of version")
            take_list(store, history, listed)
            newest = max(newest, listed)
        take(store, history, version)
        newest = max(newest, version)
        assert state(store) == after(history, newest)
    assert state(store) == after(history, len(history))
    assert store.version == str(len(history))


@given(histories, st.data())
def test_an_answer_to_a_patch_of_ours_is_never_undone_by_an_older_event(history: History, data: st.DataObject) -> None:
    store: Store[int] = Store(lambda: None)
    take_list(store, history, 0)
    ours = data.draw(st.integers(1, len(history)), "our patch")
    key, value = history[ours - 1]
    if value is None:
        return
    store.put(Seen(key, str(ours), value))
    assert store.version == "0"
    for version in range(1, len(history) + 1):
        take(store, history, version)
        if version < ours:
            assert store.find(key) == value
    assert state(store) == after(history, len(history))


def test_a_reader_is_told_only_of_what_changes_for_it() -> None:
    calls: list[int] = []
    store: Store[int] = Store(lambda: calls.append(1))
    store.replace([Seen("a", "1", 7)], "1", AT)
    told = len(calls)
    store.put(Seen("a", "2", 7))
    store.remove("b", "3")
    store.mark(Freshness.CURRENT)
    store.seen_up_to("4")
    assert len(calls) == told
    store.put(Seen("a", "5", 8))
    store.mark(Freshness.STALE, "why")
    store.remove("a", "6")
    assert len(calls) == told + 3


def test_a_list_after_the_version_was_forgotten_is_believed_though_its_version_is_lower() -> None:
    store: Store[int] = Store(lambda: None)
    store.replace([Seen("a", "900", 1)], "900", AT)
    store.forget_version()
    store.replace([Seen("b", "5", 2)], "5", AT)
    assert (state(store), store.version) == ({"b": 2}, "5")


def test_an_older_list_still_tells_when_it_was_begun() -> None:
    store: Store[int] = Store(lambda: None)
    store.replace([], "5", AT)
    store.replace([Seen("a", "3", 1)], "3", AT + timedelta(seconds=9))
    assert store.listed_at == AT + timedelta(seconds=9)
    assert state(store) == {}


def test_versions_that_are_no_numbers_are_taken_as_they_come() -> None:
    store: Store[int] = Store(lambda: None)
    store.replace([Seen("a", "x", 1)], "v9", AT)
    store.put(Seen("a", "v1", 2))
    store.remove("a", "v0")
    assert state(store) == {}


def test_the_first_list_makes_it_current_and_a_later_one_leaves_a_broken_watch_broken() -> None:
    store: Store[int] = Store(lambda: None)
    assert store.listing().freshness is Freshness.PENDING
    store.replace([], "1", AT)
    assert store.listing().freshness is Freshness.CURRENT
    store.mark(Freshness.STALE, "why")
    store.replace([], "2", AT)
    assert (store.listing().freshness, store.listing().why) == (Freshness.STALE, "why")


def test_what_cannot_be_read_is_there_all_the_same() -> None:
    store: Store[int] = Store(lambda: None)
    store.replace([Seen("a", "1", None, "pods a (KeyError)"), Seen("b", "1", 2)], "1", AT)
    assert store.listing().items == (2,)
    assert store.listing().why == "1 could not be read, as pods a (KeyError)"
    store.remove("b", "2")
    assert not store.is_empty
    store.remove("a", "3")
    assert store.is_empty
