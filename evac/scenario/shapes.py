"""What shape a field must have, as small checks that are put together.

Law: null is everywhere the same as absent, as the API has it. A field that nobody here reads is not judged.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

Path = tuple[str | int, ...]
Shape = Callable[[object, Path], None]

_QUANTITY = re.compile(r"[+-]?(\d{1,30}(\.\d{0,18})?|\.\d{1,18})([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?", re.ASCII)
_PERCENT = re.compile(r"\d{1,3}%|\d{1,9}", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?", re.ASCII)
_UID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_LARGEST = 2**31 - 1


class ShapeError(Exception):
    """A value that is not what its field takes; `path` leads to it."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def written(path: Path) -> str:
    """The path as people write it: spec.containers[0].name."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the object"


def _shown(value: object) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "nothing"
        case _:
            text = ascii(value)
            return text if len(text) <= 40 else f"{text[:37]}..."


def refuse(value: object, path: Path, wanted: str) -> ShapeError:
    """The complaint that the value at `path` is not `wanted`."""
    return ShapeError(path, f"{written(path)} must be {wanted}, and is {_shown(value)}")


def text(value: object, path: Path) -> None:
    """A string."""
    if not isinstance(value, str):
        raise refuse(value, path, "a string (quote it)" if isinstance(value, int | float) else "a string")


def name(value: object, path: Path) -> None:
    """An object's name: what the API takes in a URL (RFC 1123, and the colons of RBAC's names)."""
    if not (isinstance(value, str) and _NAME.fullmatch(value)):
        raise refuse(value, path, "a Kubernetes name (small letters, digits, '-' and '.')")


def uid(value: object, path: Path) -> None:
    """A UID as the API gives them; anything that can stand for one is taken."""
    if value != "" and not (isinstance(value, str) and _UID.fullmatch(value)):
        raise refuse(value, path, "a UID")


def boolean(value: object, path: Path) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise refuse(value, path, "true or false")


def whole(value: object, path: Path) -> None:
    """A whole number of 32 bits, not below 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise refuse(value, path, "a whole number")


def up_to(most: int) -> Shape:
    """A whole number from 0 to `most`."""

    def check(value: object, path: Path) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise refuse(value, path, f"a whole number from 0 to {most}")

    return check


def integer(value: object, path: Path) -> None:
    """A whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise refuse(value, path, "a whole number")


def int_or_percent(value: object, path: Path) -> None:
    """A whole number, or a string with one or with a percentage (intstr)."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            raise refuse(value, path, 'a whole number or a percentage ("25%")')
        return
    whole(value, path)


def quantity(value: object, path: Path) -> None:
    """A resource quantity: "100m", "1.5Gi", 2, "1e3" (apimachinery, resource.Quantity)."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e19
    if not is_number and not (isinstance(value, str) and _QUANTITY.fullmatch(value)):
        raise refuse(value, path, 'a quantity ("100m", "1.5Gi")')


def moment(value: object, path: Path) -> None:
    """An RFC 3339 time with a zone, in the years that arithmetic can bear."""
    try:
        read = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        read = None
    if read is None or read.tzinfo is None or not 1900 < read.year < 9000:
        raise refuse(value, path, 'a time ("2026-11-02T03:04:05Z")')


def one_of(*words: str) -> Shape:
    """One of these strings."""

    def check(value: object, path: Path) -> None:
        if value not in words:
            raise refuse(value, path, f"one of {', '.join(words)}")

    return check


def listing(each: Shape) -> Shape:
    """A list of such values."""

    def check(value: object, path: Path) -> None:
        if not isinstance(value, list):
            raise refuse(value, path, "a list")
        for i, item in enumerate(value):
            each(item, (*path, i))

    return check


def table(each: Shape) -> Shape:
    """A mapping from strings to such values."""

    def check(value: object, path: Path) -> None:
        if not isinstance(value, dict):
            raise refuse(value, path, "a mapping")
        for key, item in value.items():
            if not isinstance(key, str):
                raise refuse(key, (*path, str(key)), "a string as key (quote it)")
            each(item, (*path, key))

    return check


def record(fields: Mapping[str, Shape], required: tuple[str, ...] = ()) -> Shape:
    """A mapping with these fields, each optional unless required; others are not judged."""

    def check(value: object, path: Path) -> None:
        if not isinstance(value, dict):
            raise refuse(value, path, "a mapping")
        for key in required:
            if value.get(key) is None:
                raise ShapeError(path, f"{written((*path, key))} is missing")
        for key, shape in fields.items():
            item = value.get(key)
            if item is not None:
                shape(item, (*path, key))

    return check


strings = table(text)
quantities = table(quantity)
