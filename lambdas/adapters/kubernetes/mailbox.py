"""Where the loop waits: for answers, for changes, for a wake, or for a moment.

Law: nothing that happens between two waits is missed, and each answer is handed out once.
"""

import threading
from collections.abc import Sequence
from datetime import datetime

from lambdas.application.ports import Clock
from lambdas.domain.values.answers import Answer

_LONGEST = 60.0


class Mailbox:
    """Filled by any thread, emptied by the loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._condition = threading.Condition()
        self._answers: list[Answer] = []
        self._has_changed = False

    def put(self, answer: Answer) -> None:
        """An action's answer."""
        with self._condition:
            self._answers.append(answer)
            self._condition.notify_all()

    def changed(self) -> None:
        """Something that is watched changed, or somebody wants the loop to look."""
        with self._condition:
            self._has_changed = True
            self._condition.notify_all()

    @property
    def has_answers(self) -> bool:
        """Whether there is an answer to be had."""
        with self._condition:
            return bool(self._answers)

    def wait(self, until: datetime) -> Sequence[Answer]:
        """Until something is there or `until` by the clock; the answers since the last call, oldest first."""
        with self._condition:
            while not (self._answers or self._has_changed):
                left = (until - self._clock.now()).total_seconds()
                if left <= 0:
                    break
                self._condition.wait(min(left, _LONGEST))
            answers, self._answers = self._answers, []
            self._has_changed = False
            return answers
