"""The events of a replay in sentences: those that led to no drain, and why."""

from collections.abc import Iterator, Sequence

from evac.rendering.words import clean, plural
from evac.replay.hearing import Heard
from evac.replay.outcome import Replay
from lambdas.domain.values.messages import Malformed

_MOST = 10
"""Lines of one kind: a whole queue may be replayed."""


def event_sentences(replay: Replay) -> Iterator[str]:
    """What is said of the events, their count last; nothing where each was an interruption of its own."""
    malformed = [h for h in replay.heard if isinstance(h.message, Malformed)]
    ignored = [h for h in replay.heard if not h.notices and not isinstance(h.message, Malformed)]
    yield from _listed("malformed", [(h.place, h.reason) for h in malformed])
    yield from _listed("ignored", [(h.place, h.reason) for h in ignored])
    repeated = list(_repeated(replay.heard))
    yield from _listed("repeated", repeated)
    if malformed or ignored or repeated:
        notices = len(replay.heard) - len(malformed) - len(ignored)
        yield (
            f"{plural(len(replay.heard), 'event')}: {plural(notices, 'interruption')}, "
            f"{len(ignored)} ignored, {len(malformed)} malformed"
        )


def _listed(word: str, found: list[tuple[str, str]]) -> Iterator[str]:
    for place, why in found[:_MOST]:
        yield f"{word}: {clean(place)}: {clean(why)}"
    if len(found) > _MOST:
        yield f"{word}: and {len(found) - _MOST} more"


def _repeated(heard: Sequence[Heard]) -> Iterator[tuple[str, str]]:
    """Notices of an instance that had one: a queue delivers some of them twice."""
    seen: set[str] = set()
    for h in heard:
        for notice in h.notices:
            if notice.instance_id in seen:
                yield h.place, f"another notice of {notice.instance_id}: drained once"
            seen.add(notice.instance_id)
