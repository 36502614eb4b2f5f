"""Reading one field of an event.

Law: a field that does not hold what it should is refused with the place where it stands; nothing else is ever raised.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

_INSTANCE_ID: Final = re.compile(r"i-(?:[0-9a-f]{8}|[0-9a-f]{17})")
_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_RFC_1123: Final = re.compile(r"(?:[A-Z][a-z]{2}, )?(\d\d?) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""Outside these a time is none of an event's; inside, deadlines computed from it cannot overflow."""

_SHOWN: Final = 60


class Unreadable(ValueError):
    """The body cannot be understood; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object of a body, and the path to it."""

    values: Mapping[str, object]
    path: str = ""

    def refuse(self, key: str, what: str) -> Unreadable:
        """`what` is wrong with the field."""
        return Unreadable(f"{self.path}{key}: {what}")

    def get(self, key: str) -> object:
        """The field's value. Raises Unreadable where there is none (null is none)."""
        value = self.values.get(key)
        if value is None:
            raise self.refuse(key, "missing")
        return value

    def child(self, key: str) -> Self:
        """The object in the field."""
        value = self.get(key)
        if not isinstance(value, dict):
            raise self.refuse(key, f"{shown(value)} is no object")
        return type(self)(value, f"{self.path}{key}.")

    def text(self, key: str) -> str:
        """The text in the field, not empty."""
        value = self.get(key)
        if not isinstance(value, str) or not value:
            raise self.refuse(key, f"{shown(value)} is no text")
        return value

    def optional_text(self, key: str) -> str:
        """The text in the field; empty where there is none, or something else."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def instance_id(self, key: str) -> str:
        """An EC2 instance id: `i-` and 8 or 17 lowercase hexadecimal digits (EC2 user guide, resource ids)."""
        value = self.get(key)
        if not is_instance_id(value):
            raise self.refuse(key, f"{shown(value)} is no instance id")
        return str(value)

    def moment(self, key: str) -> datetime:
        """The moment in the field, in UTC: RFC 3339 with its offset, or RFC 1123 as AWS Health writes it."""
        value = self.get(key)
        moment = _read_moment(value) if isinstance(value, str) else None
        if moment is None:
            raise self.refuse(key, f"{shown(value)} is no time with an offset")
        if not _EARLIEST <= moment < _LATEST:
            raise self.refuse(key, f"{shown(value)} is out of range")
        return moment


def is_instance_id(value: object) -> bool:
    """Whether `value` is an EC2 instance id, as a whole."""
    return isinstance(value, str) and _INSTANCE_ID.fullmatch(value) is not None


def shown(value: object) -> str:
    """`value` as a reason shows it: short, on one line, ASCII."""
    match value:
        case str():
            return json.dumps(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
        case dict():
            return "an object"
        case list():
            return "a list"
        case bool() | None:
            return json.dumps(value)
        case _:
            return str(value)[:_SHOWN]


def _read_moment(text: str) -> datetime | None:
    try:
        if _RFC_3339.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        if match := _RFC_1123.fullmatch(text):
            day, month, year, hour, minute, second = match.groups()
            numbers = int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second)
            return datetime(*numbers, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None
