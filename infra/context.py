"""One context key: what it accepts, and the single line said when it is given something else.

Law: a value that is not understood is refused, never guessed. `cdk -c key=value` delivers text and
`cdk.json` delivers JSON, so every reader takes both forms.
"""

import base64
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")


class ContextError(ValueError):
    """A context key that is wrong, unknown or missing. The message is one line and says what to type."""


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """A context key of ours. `of` gives its value, or `default` where it is not given."""

    name: str
    read: Callable[[object], T]
    """Turns what was given into the value; raises ValueError for what it does not accept."""
    expects: str
    """What to type, in words; ends the error line."""
    example: str
    help: str
    default: T
    required: bool = False

    def of(self, context: Mapping[str, object]) -> T:
        """The value in this context. Raises ContextError if it is wrong, or missing though required."""
        given = context.get(self.name)
        if given is None:
            if self.required:
                raise ContextError(f"context key {self.name} is missing: type {self.cure}")
            return self.default
        try:
            return self.read(given)
        except ValueError:
            raise ContextError(f"context key {self.name} is {_shown(given)}: type {self.cure}") from None

    @property
    def cure(self) -> str:
        """What to type instead, for the end of an error line."""
        return f"{self.expects}, for example -c {self.name}={self.example}"


def _shown(given: object) -> str:
    """What was given, short and on one line."""
    text = repr(given)
    return text if len(text) <= 80 else f"{text[:77]}..."


# --- readers -------------------------------------------------------------------------------------------------


def text(pattern: str) -> Callable[[object], str]:
    """A string that matches the whole pattern."""
    compiled = re.compile(pattern)

    def read(given: object) -> str:
        if not isinstance(given, str) or not compiled.fullmatch(given):
            raise ValueError(given)
        return given

    return read


def one_of(*words: str) -> Callable[[object], str]:
    """One of these words, written as here."""
    return text("|".join(map(re.escape, words)))


def several(pattern: str, at_most: int) -> Callable[[object], tuple[str, ...]]:
    """One to `at_most` different strings: a JSON list, or separated by commas."""
    one = text(pattern)

    def read(given: object) -> tuple[str, ...]:
        parts = given.split(",") if isinstance(given, str) else given
        if not isinstance(parts, list) or not 1 <= len(parts) <= at_most:
            raise ValueError(given)
        values = tuple(one(part.strip() if isinstance(part, str) else part) for part in parts)
        if len(set(values)) < len(values):
            raise ValueError(given)
        return values

    return read


def truth(given: object) -> bool:
    """true or false, as JSON or in letters."""
    match given:
        case bool():
            return given
        case "true":
            return True
        case "false":
            return False
    raise ValueError(given)


def _whole(given: object) -> int:
    match given:
        case bool():
            pass
        case int():
            return given
        case str() if re.fullmatch(r"[0-9]{1,9}", given):
            return int(given)
    raise ValueError(given)


def whole(lowest: int, highest: int) -> Callable[[object], int]:
    """A whole number within these bounds, both included."""

    def read(given: object) -> int:
        value = _whole(given)
        if not lowest <= value <= highest:
            raise ValueError(given)
        return value

    return read


def whole_of(allowed: Collection[int]) -> Callable[[object], int]:
    """One of these whole numbers."""

    def read(given: object) -> int:
        value = _whole(given)
        if value not in allowed:
            raise ValueError(given)
        return value

    return read


_PEM_BEGIN: Final = b"-----BEGIN CERTIFICATE-----"


def certificate(given: object) -> str:
    """A certificate authority as `aws eks describe-cluster` prints it: base64 of PEM."""
    plain = text(r"[A-Za-z0-9+/]+=*")(given)
    if not base64.b64decode(plain, validate=True).startswith(_PEM_BEGIN):
        raise ValueError(given)
    return plain


def optional(read: Callable[[object], T]) -> Callable[[object], T | None]:
    """The same reader, for a key whose default is None: says so to the type checker, does nothing else."""
    return read
