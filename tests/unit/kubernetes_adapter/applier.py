"""JSON patches (RFC 6902) as the API server applies them; a test of null holds where there is nothing."""

from typing import Any

from lambdas.adapters.kubernetes.json_patch import Patch

Json = dict[str, Any]


class Refused422(Exception):
    """The patch does not apply."""


def applied(item: Json, patch: Patch) -> Json:
    """The object after the patch, as the server stores it: empty maps and lists are left out. Raises Refused422."""
    result: Json = copied(item)
    for operation in patch:
        _apply(result, operation)
    for part in ("metadata", "spec"):
        result[part] = {k: v for k, v in result[part].items() if v not in ({}, [], None, False)}
    taints = [(t["key"], t["effect"]) for t in result["spec"].get("taints", [])]
    if len(set(taints)) < len(taints):
        raise Refused422("taints must be unique by key and effect pair")
    return result


def copied(value: Any) -> Any:
    """All of it anew."""
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return [copied(v) for v in value] if isinstance(value, list) else value


def _apply(item: Json, operation: Json) -> None:
    *parents, last = [p.replace("~1", "/").replace("~0", "~") for p in operation["path"].split("/")[1:]]
    at: Any = item
    for part in parents:
        try:
            at = at[int(part)] if isinstance(at, list) else at[part]
        except (KeyError, IndexError) as error:
            raise Refused422(operation["path"]) from error
    match operation["op"]:
        case "test":
            if _value(at, last) != operation["value"]:
                raise Refused422(f"test {operation['path']}")
        case "add" if isinstance(at, list):
            at.insert(len(at) if last == "-" else int(last), operation["value"])
        case "add":
            at[last] = operation["value"]
        case "remove":
            if _value(at, last) is None:
                raise Refused422(f"remove {operation['path']}")
            del at[int(last) if isinstance(at, list) else last]


def _value(at: Any, last: str) -> Any:
    if isinstance(at, list):
        if int(last) >= len(at):
            raise Refused422(last)
        return at[int(last)]
    return at.get(last)
