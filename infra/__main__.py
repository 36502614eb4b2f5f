"""`python -m infra` prints the table of context keys, in Markdown, for the README."""

import sys

from infra.context import Key
from infra.keys import KEYS


def table() -> str:
    """The context keys as a Markdown table, one line a key."""
    rows = [f"| `{key.name}` | {_default(key)} | {key.help} |" for key in KEYS]
    return "\n".join(["| key | default | what it is for |", "|---|---|---|", *rows])


def _default(key: Key[object]) -> str:
    match key.default:
        case _ if key.required:
            return "required"
        case None | ():
            return ""
        case bool() as truth:
            return str(truth).lower()
        case other:
            return str(other)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
