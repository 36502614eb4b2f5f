"""YAML as Kubernetes means it: maps, lists, strings, numbers and booleans, and nothing that bites.

Law: time and memory stay in proportion to the text. Aliases are expanded up to a bound, merge keys and tags that make
objects are refused, time stamps stay the strings that the API has.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from evac.errors import InputError

_LARGEST = 2_000_000
"""Values of one document once its aliases are expanded."""

_TAG = "tag:yaml.org,2002:"
_PLAIN = ("null", "str", "seq", "map")
_CONVERTED = ("bool", "int", "float")
_STRINGS = (f"{_TAG}timestamp", f"{_TAG}value")
"""Kinds of scalar that Kubernetes' YAML does not have: what looks like one is a string."""


@cache
def _loader() -> Any:
    """The C loader where PyYAML has it (ten times as fast), with the core types only."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    known = base.yaml_constructors
    constructors = {f"{_TAG}{name}": known[f"{_TAG}{name}"] for name in _PLAIN} | {None: known[None]}
    constructors |= {f"{_TAG}{name}": _marking(known[f"{_TAG}{name}"]) for name in _CONVERTED}
    resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag not in _STRINGS]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    members = {
        "flatten_mapping": _refuse_merge,
        "yaml_constructors": constructors,
        "yaml_implicit_resolvers": resolvers,
    }
    return type("CoreLoader", (base,), members)


def _refuse_merge(_loader: object, node: yaml.MappingNode) -> None:
    """Merge keys double a mapping with every level: a few lines can fill the memory."""
    for key, _ in node.value:
        if key.tag == f"{_TAG}merge":
            raise yaml.constructor.ConstructorError(None, None, "merge keys (<<) are not read", key.start_mark)


def _marking(construct: Any) -> Any:
    """The constructor, complaining with the line of a scalar that it cannot convert ("!!int x", "0x_")."""

    def marked(loader: object, node: yaml.ScalarNode) -> object:
        try:
            return construct(loader, node)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise yaml.constructor.ConstructorError(
                None, None, "not a number or boolean after all: quote it", node.start_mark
            ) from None

    return marked


def read_yaml(text: str, name: str) -> Iterator[object]:
    """The documents of `text`, in order. Raises `InputError` with line and column."""
    may_alias = "*" in text and "&" in text
    try:
        for document in yaml.load_all(text, _loader()):
            yield _unshared(document, name) if may_alias else document
    except yaml.MarkedYAMLError as error:
        raise _marked(error, text, name) from None
    except yaml.reader.ReaderError as error:
        raise _unreadable(error, text, name) from None
    except yaml.YAMLError as error:
        raise InputError(f"is not YAML: {error}", cure="print it anew with kubectl get -o yaml", place=name) from None
    except RecursionError:
        raise InputError("is nested too deeply", cure="a Kubernetes object is not", place=name) from None


def _unreadable(error: yaml.reader.ReaderError, text: str, name: str) -> InputError:
    code = error.character if isinstance(error.character, int) else ord(str(error.character)[:1] or "\0")
    return InputError(
        f"holds a character that YAML does not allow (U+{code:04X})",
        cure="is it a text file? remove that character",
        place=f"{name}:{text.count(chr(10), 0, error.position) + 1}",
    )


def _marked(error: yaml.MarkedYAMLError, text: str, name: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or "is not YAML"
    if mark is None:
        return InputError(f"is not YAML: {problem}", cure="print it anew with kubectl get -o yaml", place=name)
    lines = text.split("\n", mark.line + 1)
    line = lines[mark.line] if mark.line < len(lines) else ""
    indent = line[: len(line) - len(line.lstrip())]
    cure = "indent with spaces: YAML takes no tabs" if "\t" in indent else "mend that line, or print the file anew"
    return InputError(f"is not YAML: {problem}", cure=cure, place=f"{name}:{mark.line + 1}:{mark.column + 1}")


def _unshared(document: object, name: str) -> object:
    """A copy in which no two places share an object, so that a change in one is no change in the other."""
    left = [_LARGEST]

    def copy(value: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            raise InputError(
                f"expands to more than {_LARGEST:,} values through its aliases",
                cure="write the objects out, as kubectl get -o yaml does",
                place=name,
            )
        match value:
            case dict():
                return {k: copy(v) for k, v in value.items()}
            case list():
                return [copy(v) for v in value]
            case _:
                return value

    return copy(document)


def line_of(text: str, document: int, path: tuple[str | int, ...]) -> int | None:
    """The line on which the value at `path` of a document begins: asked for only when something is wrong with it."""
    try:
        nodes = yaml.compose_all(text, _loader())
        node: Any = next(n for i, n in enumerate(nodes) if i == document)
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            node = found
    except (yaml.YAMLError, StopIteration, RecursionError):
        return None
    return None if node is None else int(node.start_mark.line) + 1


def _child(node: object, step: str | int) -> object | None:
    match node:
        case yaml.MappingNode():
            return next((v for k, v in reversed(node.value) if k.value == step), None)
        case yaml.SequenceNode() if isinstance(step, int) and step < len(node.value):
            child: object = node.value[step]
            return child
        case _:
            return None
