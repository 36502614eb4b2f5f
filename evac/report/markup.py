"""HTML and SVG elements as text.

Law: a plain `str` is what somebody else wrote, and is escaped; only `tag`, `joined` and constants of this package make
`Html`.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

from evac.rendering.words import clean

_VOID: Final = frozenset({"meta", "br"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


NOTHING: Final = Html()


def tag(name: str, /, *children: str, **attributes: object) -> Html:
    """An element. Of attributes `class_` is class and `data_x` data-x; one that is None or False is left out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[str]) -> Html:
    """One after the other."""
    return Html("".join(part if isinstance(part, Html) else _plain(part) for part in parts))


def _plain(text: str) -> str:
    """Escaped, line by line: titles have several."""
    return escape("\n".join(clean(line) for line in text.split("\n")))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True or value is False:
        return f" {name}" if value else ""
    return f' {name}="{_plain(str(value))}"'
