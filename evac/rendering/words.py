"""Numbers and names as people read them.

Law: nothing that came out of a file or an API reaches a terminal as a control code.
"""

from datetime import timedelta
from typing import Final

from lambdas.domain.values.drains import Ending

ENDINGS: Final = {
    Ending.DRAINED: "drained",
    Ending.PODS_LOST: "pods were lost with the host",
    Ending.NOT_OURS: "no node of this cluster: not ours, acknowledged",
    Ending.ALREADY_GONE: "its node is already gone: nothing to drain",
    Ending.STALE: "its deadline is long past (stale): nothing touched",
    Ending.JOINED: "another drain has done it: joined",
    Ending.FAILED: "not drained to its end: to be tried again",
}
"""What a drain's ending means."""

_OF_SEVERAL: Final = (
    ("by its budget", "by their budget"),
    ("waits for its replacement", "wait for their replacements"),
    ("goes when", "go when"),
    ("its turn did", "their turn did"),
    ("its last safe moment", "their last safe moment"),
    ("its shutdown was", "their shutdowns were"),
    ("its ReplicaSet", "their ReplicaSet"),
    ("its Deployment", "their Deployment"),
    ("room for its replacement", "room for their replacements"),
    ("would adopt it", "would adopt them"),
    ("the pod is not Ready itself", "the pods are not Ready themselves"),
    ("AlwaysAllow would let it go", "AlwaysAllow would let them go"),
)
"""What a drain says of one pod, and what it is of several."""

_PRINTABLE_AFTER_ALL = {"\t": " ", "\n": " ", "\r": " "}


def clean(text: str) -> str:
    """The text with control characters, and what no terminal shows, replaced."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _PRINTABLE_AFTER_ALL.get(c, "?") for c in text)


def offset(seconds: float | None) -> str:
    """A moment as seconds from the notice: "+85.0s", from an hour on "+1h00m30s"; "–" where there is none."""
    if seconds is None:
        return "–"
    if abs(seconds) >= 3600:
        minutes, rest = divmod(round(abs(seconds)), 60)
        return f"{'-' if seconds < 0 else '+'}{minutes // 60}h{minutes % 60:02}m{rest:02}s"
    return f"{round(seconds, 1) + 0.0:+.1f}s"  # + 0.0: no moment is "-0.0s"


def seconds(duration: timedelta | None) -> str:
    """A grace or a time left: "30s"; "–" where there is none."""
    return "–" if duration is None else f"{duration.total_seconds():g}s"


def plural(count: int, noun: str) -> str:
    """The count with its noun: "1 pod", "2 pods"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def of_several(text: str) -> str:
    """What is said of one pod, as it is said of several."""
    for one, several in _OF_SEVERAL:
        text = text.replace(one, several)
    return text


def enumerated(words: list[str], most: int = 5) -> str:
    """The words as a sentence has them: "a, b and c", or "a, b and 7 more"."""
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def folded(names: list[str]) -> list[str]:
    """The names, those of three and more that differ in their last part only as one: "web/front-5c6d-{a1,b2,c3}"."""
    families: dict[str, list[str]] = {}
    for name in sorted(map(clean, names)):
        stem, dash, last = name.rpartition("-")
        families.setdefault(stem + dash, []).append(last)
    return [word for stem, ends in families.items() for word in _family(stem, ends)]


def _family(stem: str, ends: list[str]) -> list[str]:
    if not stem or len(ends) < 3:
        return [stem + end for end in ends]
    return [f"{stem}{{{ends[0]},", *(f"{end}," for end in ends[1:-1]), f"{ends[-1]}}}"]
