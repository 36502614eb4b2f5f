"""What a controller has asked for and not seen yet; meanwhile it neither creates nor deletes.

Rules: ControllerExpectations in pkg/controller/controller_utils.go. Law: a deletion is seen only while the pod is still
owned; one that was let go of in between is waited for until five minutes have passed, and then until the next event.
"""

from datetime import datetime, timedelta

from evac.simulator.objects import Key

_TIMEOUT = timedelta(minutes=5)


class Expectations:
    """Deletions on their way, by controller."""

    def __init__(self) -> None:
        self._awaited: dict[Key, tuple[set[str], datetime]] = {}

    def expect(self, owner: Key, uids: set[str], now: datetime) -> None:
        """The deletion of these pods has been asked for."""
        self._awaited[owner] = (uids, now + _TIMEOUT)

    def seen(self, owner: Key, uid: str) -> None:
        """A pod is on its way out, or gone."""
        if owner in self._awaited:
            self._awaited[owner][0].discard(uid)

    def are_met(self, owner: Key, now: datetime) -> bool:
        """Whether everything was seen, or is not waited for any more."""
        uids, until = self._awaited.get(owner, (set(), now))
        return not uids or until <= now
