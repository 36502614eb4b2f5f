"""A page as a browser takes it: its elements and its text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "br", "link", "img", "input", "hr"}


@dataclass
class Element:
    """One of them; `text` is its own and that of all within."""

    name: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def all(self, name: str, style: str = "") -> Iterator["Element"]:
        """Those within of a name, and of a class."""
        for child in self.children:
            if child.name == name and (not style or style in child.attributes.get("class", "").split()):
                yield child
            yield from child.all(name, style)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(page: str) -> Element:
    """The page's root. Fails where an element is not closed, or closed by another's end."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert [element.name for element in reader.open] == [""], "not every element is closed"
    return reader.open[0]
