"""The pieces of JSON patches (RFC 6902).

Law: a patch says by `test` what it believes of everything that it takes away or remembers as former, so that a change
by somebody else in between refuses it whole (422) and never is overwritten. (A `test` of a path against null holds
where there is nothing; seen on 1.34 and 1.37.)
"""

from collections.abc import Mapping
from typing import Any

Operation = dict[str, Any]
Patch = list[Operation]


def test(path: str, value: object) -> Operation:
    """The path holds that value, or nothing where the value is None."""
    return {"op": "test", "path": path, "value": value}


def add(path: str, value: object) -> Operation:
    """Set it, whatever was there."""
    return {"op": "add", "path": path, "value": value}


def removed(path: str, value: object) -> Patch:
    """Take away what is known to be there."""
    return [test(path, value), {"op": "remove", "path": path}]


def entries(path: str, there: Mapping[str, str], values: Mapping[str, str]) -> Patch:
    """Set entries of a map that may be missing altogether: adding to what is not there is refused."""
    if not there:
        return [test(path, None), add(path, dict(values))]
    patch: Patch = []
    for key, value in values.items():
        entry = f"{path}/{escaped(key)}"
        patch += [test(entry, there.get(key)), add(entry, value)]
    return patch


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
