"""Event bodies out of files: EventBridge events, one or many, in any of the ways in which people keep them.

Law: what an event means is the handler's to say. Here a file is only cut into bodies; a body that makes no sense goes
on as it stands, to be counted and shown as the handler does.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from evac.errors import InputError
from evac.scenario.documents import read_json_values
from evac.scenario.files import Text, read_texts

_SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one message, and where it stands: "events.jsonl:3", "events.json[2]"."""

    text: str
    place: str


def read_bodies(path: str) -> list[Body]:
    """Every body in the file, folder or standard input ("-"). Raises `InputError`."""
    bodies = [body for text in read_texts(path, _SUFFIXES, "events") for body in _bodies(text)]
    if not bodies:
        raise InputError("holds no event", cure="give EventBridge events as JSON, or use --node NAME", place=path)
    return bodies


def _bodies(text: Text) -> list[Body]:
    try:
        values = list(read_json_values(text))
    except InputError as error:
        lines = _json_lines(text)
        if lines is None:
            raise _without_json(error, text) from None
        return lines
    if len(values) == 1:
        return list(_single(text, *values[0]))
    return [Body(own, f"{text.name}[{i}]") for i, (_, own) in enumerate(values)]


def _json_lines(text: Text) -> list[Body] | None:
    """The lines as bodies, if at least half of them are JSON objects: then the others are broken, not the file."""
    lines = [(number, line) for number, line in enumerate(text.content.split("\n"), 1) if line.strip()]
    objects = sum(1 for _, line in lines if _is_object(line))
    if len(lines) < 2 or objects * 2 < len(lines):
        return None
    return [Body(line.strip(), f"{text.name}:{number}") for number, line in lines]


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _without_json(error: InputError, text: Text) -> InputError:
    cure = error.cure
    if "apiVersion:" in text.content:
        cure = "give Kubernetes manifests with --cluster, and EventBridge events (JSON) as EVENTS"
    return InputError(error.message, cure=cure, place=error.place)


def _single(text: Text, value: object, own: str) -> Iterator[Body]:
    match value:
        case list() as items:
            for i, item in enumerate(items):
                yield Body(_as_body(item), f"{text.name}[{i}]")
        case {"Records": [{"body": str()}, *_] as records} | {"Messages": [{"Body": str()}, *_] as records}:
            # What Lambda is invoked with, and what `aws sqs receive-message` prints.
            for i, message in enumerate(records):
                yield Body(_message_body(message), f"{text.name}[{i}]")
        case {"apiVersion": str(), "kind": str()}:
            if not text.is_from_folder:
                raise InputError(
                    "holds Kubernetes objects, not events", cure="give manifests with --cluster", place=text.name
                )
        case _:
            yield Body(own, text.name)


def _as_body(item: object) -> str:
    return item if isinstance(item, str) else json.dumps(item)


def _message_body(message: object) -> str:
    if isinstance(message, dict):
        for key in ("body", "Body"):
            if isinstance(body := message.get(key), str):
                return body
    return json.dumps(message)
