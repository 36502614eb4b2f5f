"""Opening a queue message's body down to the event inside, whatever it travelled through.

Law: a wrapping of any kind changes nothing of what the event says, and no body, however odd, raises anything but
`Unreadable`.
"""

import json
from typing import Final, NoReturn

from lambdas.domain.decisions.fields import Fields, Unreadable

_DEEPEST: Final = 8
"""Topics that a body may have passed; each doubles the escapes, so SQS's own size limit comes soon after."""

_EVENT_KEYS: Final = frozenset({"detail-type", "source", "LifecycleTransition", "Event"})
"""Where one of these stands on top, the object is the event itself and not a topic's wrapping."""


def unwrap(body: str | bytes) -> Fields:
    """The innermost object: an EventBridge envelope, an Auto Scaling message or a topic's own message.

    SNS puts what it delivers as JSON text into `Message` (without raw message delivery). Raises Unreadable.
    """
    text, path = body, ""
    for _ in range(_DEEPEST + 1):
        fields = Fields(_read_object(text, path), path)
        message = fields.values.get("Message")
        if not isinstance(message, str) or _EVENT_KEYS & fields.values.keys() or is_topic_handshake(fields):
            return fields
        text, path = message, f"{path}Message."
    raise Unreadable(f"{path.rstrip('.')}: wrapped more than {_DEEPEST} times")


def is_topic_handshake(fields: Fields) -> bool:
    """Whether it is a topic's own message about a subscription; its `Message` is prose."""
    return fields.values.get("Type") in ("SubscriptionConfirmation", "UnsubscribeConfirmation")


def _read_object(text: str | bytes, path: str) -> dict[str, object]:
    """A repeated key counts with its last value, as EventBridge's own patterns read it."""
    where = path.rstrip(".") or "body"
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{where}: no JSON ({_short(error)})") from error
    if not isinstance(value, dict):
        raise Unreadable(f"{where}: JSON, but no object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is none of JSON's")


def _short(error: Exception) -> str:
    """The decoder's words without what it quotes: a UnicodeDecodeError's reason may be long."""
    return ascii(str(error))[1:-1][:80] if str(error) else type(error).__name__
