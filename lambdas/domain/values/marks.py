"""The node annotation that says what we did, why, until when, and what was there before us.

Law: whoever reads it may meet anybody's text; what is not a whole mark of ours is None, never an error.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lambdas.domain.values.actions import Mark
from lambdas.domain.values.notices import Reason


@dataclass(frozen=True, slots=True)
class Former:
    """What the node was before our mark. `excluded`: it had the load balancer exclusion label already."""

    unschedulable: bool = False
    excluded: bool = False


_BY_A_PERSON = Reason.MAINTENANCE.value


def supersedes(mark: Mark, earlier: Mark) -> bool:
    """Whether a mark is written over one that an earlier drain left: the host is taken, or later than that one said.

    A person's drain never is written over a host's end; a host's end always over a person's, whatever deadline it has.
    """
    if (mark.reason == _BY_A_PERSON) != (earlier.reason == _BY_A_PERSON):
        return earlier.reason == _BY_A_PERSON
    if mark.reclaim_at is None or earlier.reclaim_at is None:
        return False
    return mark.reclaim_at > earlier.reclaim_at


def encode_mark(mark: Mark, former: Former) -> str:
    """The annotation's text: one line of JSON, keys in a fixed order, moments in RFC 3339."""
    fields = {
        "instance": mark.instance_id,
        "reason": mark.reason,
        "reclaimAt": mark.reclaim_at.isoformat() if mark.reclaim_at else None,
        "since": mark.since.isoformat(),
        "expiresAt": mark.expires_at.isoformat(),
        "former": {"unschedulable": former.unschedulable, "excluded": former.excluded},
    }
    return json.dumps(fields, separators=(",", ":"))


def decode_mark(text: str | None) -> tuple[Mark, Former] | None:
    """What `encode_mark` wrote; None where there is no annotation or it is not one of ours."""
    try:
        fields = json.loads(text or "")
        return _read_mark(fields), _read_former(fields["former"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _read_mark(fields: dict[str, Any]) -> Mark:
    reclaim_at = fields["reclaimAt"]
    return Mark(
        instance_id=_text(fields["instance"]),
        reason=_text(fields["reason"]),
        reclaim_at=None if reclaim_at is None else _moment(reclaim_at),
        since=_moment(fields["since"]),
        expires_at=_moment(fields["expiresAt"]),
    )


def _read_former(fields: dict[str, Any]) -> Former:
    return Former(_flag(fields["unschedulable"]), _flag(fields["excluded"]))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"not a text: {value!r}")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"not a truth value: {value!r}")


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError(f"a moment without a zone: {value!r}")
    return moment
