"""Text out of files, folders and standard input, whatever a shell has done to it on the way.

Law: text or `InputError`; a file's content is never trusted to be small, to be text, or to be there.
"""

import codecs
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evac.errors import InputError

STANDARD_INPUT = "-"
LARGEST = 256 * 1024 * 1024
"""Bytes of one file. A cluster of 10,000 pods prints as about 100 MB."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),  # what PowerShell's ">" writes
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file; `name` is how the person called it."""

    name: str
    content: str
    is_from_folder: bool = False


def read_texts(path: str, suffixes: Sequence[str], wanted: str) -> list[Text]:
    """The file, standard input ("-"), or every file of a folder with one of `suffixes`, by name.

    `wanted` says in messages what was looked for. Raises `InputError`.
    """
    if path == STANDARD_INPUT:
        return [Text("standard input", _decoded(_read_stdin(), "standard input"))]
    if not os.path.isdir(path):
        return [Text(path, _decoded(_read_file(path), path))]
    found = _files_under(path, suffixes)
    if not found:
        raise InputError(
            f"the folder holds no {wanted} ({', '.join('*' + s for s in suffixes)})",
            cure="name the file itself, or another folder",
            place=path,
        )
    return [Text(name, _decoded(_read_file(name), name), is_from_folder=True) for name in found]


def _files_under(folder: str, suffixes: Sequence[str]) -> list[str]:
    """Files with one of the suffixes at any depth; hidden ones and those in hidden folders are left out."""
    base = Path(folder)
    candidates: Iterable[Path] = sorted(base.rglob("*"))
    return [
        str(file)
        for file in candidates
        if file.suffix.lower() in suffixes
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(base).parts)
    ]


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return _limited(file.read(LARGEST + 1), path)
    except FileNotFoundError:
        raise InputError("no such file or folder", cure="check the path", place=path) from None
    except PermissionError:
        raise InputError("may not be read", cure="check the file's permissions", place=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", cure="check the path", place=path) from None


def _read_stdin() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("nothing is piped in", cure="pipe a file in, or name one", place="standard input")
    return _limited(sys.stdin.buffer.read(LARGEST + 1), "standard input")


def _limited(raw: bytes, name: str) -> bytes:
    if len(raw) > LARGEST:
        raise InputError(
            f"is larger than {LARGEST // 1024**2} MiB",
            cure="print fewer namespaces or kinds, or split it over several --cluster files",
            place=name,
        )
    return raw


def _decoded(raw: bytes, name: str) -> str:
    if raw.startswith(_GZIP):
        raise InputError("is compressed", cure="decompress it first (gunzip)", place=name)
    mark, encoding = next(((m, e) for m, e in _MARKS if raw.startswith(m)), (b"", "utf-8"))
    try:
        text = raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start + len(mark)) + 1
        raise InputError("is not UTF-8 text", cure="save it as UTF-8", place=f"{name}:{line}") from None
    if "\0" in text:
        raise InputError("is a binary file, not text", cure="give YAML or JSON", place=name)
    return text.replace("\r\n", "\n")
