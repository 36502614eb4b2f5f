"""Durations as people write them."""

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evac.errors import InputError
from evac.scenario.durations import read_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("2m", 120),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("10", 10),
        ("1.5", 1.5),
        (" 3s ", 3),
        ("0", 0),
        ("1h", 3600),
    ],
)
def test_units_and_bare_seconds_are_read(text: str, seconds: float) -> None:
    assert read_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "10 s", "-1s", "1e3", "ten", "10S", "1s1", "∞", "٣s", "9" * 400, "8d", "nan"]
)
def test_anything_else_is_told_with_how_to_write_it(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_duration(text)
    assert caught.value.cure


@given(st.integers(0, 7 * 24 * 3600 * 1000))
def test_every_number_of_milliseconds_is_read(milliseconds: int) -> None:
    assert read_duration(f"{milliseconds}ms") == timedelta(milliseconds=milliseconds)


@given(st.text(max_size=20))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(InputError):
        assert timedelta(0) <= read_duration(text) <= timedelta(days=7)
