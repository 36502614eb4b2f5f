"""What can go wrong with a control plane, told so that the reader knows what to do next."""

from __future__ import annotations

from pathlib import Path


class ControlPlaneError(Exception):
    """The base of what this package raises."""


class BuildError(ControlPlaneError):
    """The binaries cannot be had."""


class StartError(ControlPlaneError):
    """A process of the control plane did not come up, or died."""


class ApiError(ControlPlaneError):
    """The API server refused what a test relies on."""

    def __init__(self, doing: str, status: int, answer: object) -> None:
        message = answer.get("message", answer) if isinstance(answer, dict) else answer
        super().__init__(f"{doing}: {status} {message}")
        self.status = status


def tail(text: str, lines: int = 15) -> str:
    """The last lines of a log, where the reason usually stands."""
    return "\n".join(text.rstrip().splitlines()[-lines:])


def tail_of(log: Path, lines: int = 15) -> str:
    """The last lines of a log file; empty where there is none."""
    return tail(log.read_text(errors="replace"), lines) if log.exists() else ""
