"""The mark on a node is read as it was written, and nothing else is taken for one."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.domain.values.actions import Mark
from lambdas.domain.values.marks import Former, decode_mark, encode_mark, supersedes

NOW = datetime(2026, 11, 2, 3, 4, 5, 678901, tzinfo=UTC)
MARK = Mark("i-0123456789abcdef0", "spot-interruption", NOW + timedelta(seconds=120), NOW, NOW + timedelta(hours=1))
MOMENTS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]))


@given(
    st.builds(Mark, st.text(), st.text(), st.none() | MOMENTS, MOMENTS, MOMENTS),
    st.builds(Former, st.booleans(), st.booleans()),
)
def test_a_mark_is_read_as_it_was_written(mark: Mark, former: Former) -> None:
    assert decode_mark(encode_mark(mark, former)) == (mark, former)


def test_a_mark_is_one_line_of_json_for_people_to_read() -> None:
    text = encode_mark(MARK, Former(unschedulable=True))
    assert "\n" not in text
    assert json.loads(text) == {
        "instance": "i-0123456789abcdef0",
        "reason": "spot-interruption",
        "reclaimAt": "2026-11-02T03:06:05.678901+00:00",
        "since": "2026-11-02T03:04:05.678901+00:00",
        "expiresAt": "2026-11-02T04:04:05.678901+00:00",
        "former": {"unschedulable": True, "excluded": False},
    }


def test_what_a_newer_version_adds_is_no_harm() -> None:
    fields = json.loads(encode_mark(MARK, Former())) | {"more": [1, 2]}
    assert decode_mark(json.dumps(fields)) == (MARK, Former())


@pytest.mark.parametrize(
    "change",
    [
        {"since": "yesterday"},
        {"since": "2026-11-02T03:04:05"},
        {"since": None},
        {"expiresAt": 7},
        {"instance": 7},
        {"former": {}},
        {"former": {"unschedulable": "no", "excluded": False}},
        {"former": None},
        {"reclaimAt": ""},
    ],
)
def test_a_mark_with_a_wrong_field_is_none(change: dict[str, object]) -> None:
    assert decode_mark(json.dumps(json.loads(encode_mark(MARK, Former())) | change)) is None


@given(st.none() | st.text() | st.recursive(st.integers() | st.text(), st.lists).map(json.dumps))
def test_anything_else_is_none(text: str | None) -> None:
    assert decode_mark(text) is None


def test_a_mark_nested_without_end_is_none() -> None:
    assert decode_mark("[" * 100_000) is None


EARLY, LATE = MARK.reclaim_at, NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("earlier", "new", "is_written"),
    [
        (("spot-interruption", EARLY), ("spot-interruption", EARLY), False),  # a takeover
        (("spot-interruption", EARLY), ("spot-interruption", LATE), True),  # the host was not taken, and now is
        (("spot-interruption", LATE), ("spot-interruption", EARLY), False),
        (("maintenance", None), ("spot-interruption", EARLY), True),
        (("maintenance", LATE), ("spot-interruption", EARLY), True),  # whatever deadline a person's drain has
        (("spot-interruption", EARLY), ("maintenance", None), False),
        (("spot-interruption", EARLY), ("maintenance", LATE), False),
        (("maintenance", None), ("maintenance", LATE), False),
        (("maintenance", EARLY), ("maintenance", LATE), True),
    ],
)
def test_which_mark_is_written_over_which(
    earlier: tuple[str, datetime | None], new: tuple[str, datetime | None], is_written: bool
) -> None:
    there, here = (replace(MARK, reason=reason, reclaim_at=at) for reason, at in (earlier, new))
    assert supersedes(here, there) is is_written
