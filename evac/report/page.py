"""The whole page, and where it is written.

Law: it opens offline. A policy in its head forbids every request, and any script but its own.
"""

import base64
import hashlib
import os
from pathlib import Path
from typing import Final

from evac.errors import InputError
from evac.report.markup import Html, tag
from evac.report.node import node_section
from evac.report.style import STYLE
from evac.report.tables import journal_table
from evac.report.told import Told
from evac.report.words import Finding, findings, headline

_SCRIPT: Final = Html(
    "const folds=()=>document.querySelectorAll('details');"
    "document.querySelector('#all').onclick=()=>folds().forEach(d=>d.open=true);"
    "document.querySelector('#none').onclick=()=>folds().forEach(d=>d.open=false);"
    "addEventListener('beforeprint',()=>document.querySelectorAll('.group').forEach(d=>d.open=true));"
)
_HASH: Final = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY: Final = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'; base-uri 'none'"


def check(path: Path) -> None:
    """Whether a report can be written there, before a drain begins. Raises `InputError`."""
    folder = path.absolute().parent
    cure = "name a file in a folder that is there and may be written to"
    if not folder.is_dir():
        raise InputError(f"--report {path}: there is no folder {folder}", cure=cure)
    if path.is_dir():
        raise InputError(f"--report {path} is a folder", cure=cure)
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"--report {path} cannot be written to", cure=cure)


def write(path: Path, told: Told) -> None:
    """Write the page. Raises `InputError` where the file cannot be written after all."""
    try:
        path.write_text(page(told), encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"--report {path} could not be written: {reason}", cure="the drain itself is over; its outcome stands above"
        ) from error


def page(told: Told) -> str:
    """The page's text."""
    name = ", ".join(record.node_name for record in told.drains[:3]) or "no node"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"Drain of {name}"),
        tag("style", STYLE),
    )
    body = tag(
        "body",
        tag("header", *_header(told)),
        tag("main", *(node_section(told, record) for record in told.drains), *_journal(told)),
        tag("script", _SCRIPT),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _header(told: Told) -> list[Html]:
    found = findings(told)
    is_bad = any(finding.grade == "bad" for finding in found)
    is_costly = any(finding.grade == "costly" for finding in found)
    grade = "bad" if is_bad else "costly" if is_costly else "good"
    zero = told.zero.isoformat(timespec="seconds").replace("+00:00", "Z")
    buttons = [tag("button", "open all", id="all"), tag("button", "close all", id="none")]
    return [
        tag(
            "p",
            f"evac, {told.mode.value}; times count from the first notice, {zero}",
            tag("span", *buttons),
            class_="about",
        ),
        tag("h1", headline(told), class_=grade),
        tag("ul", *(_finding(finding) for finding in found), class_="findings"),
    ]


def _finding(finding: Finding) -> Html:
    names = [tag("small", " ".join(finding.names))] if finding.names else []
    return tag("li", finding.text, *names, class_=finding.grade)


def _journal(told: Told) -> list[Html]:
    if not told.lines:
        return []
    return [tag("details", tag("summary", "Everything in order"), journal_table(told), class_="figures")]
