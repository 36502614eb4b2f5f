"""`Background` without threads: a call runs when it is started, its result is collected like any other."""

from collections.abc import Callable, Hashable, Sequence

from lambdas.domain.errors import PortError


def _nothing() -> None:
    return None


class InlineBackground:
    """Law: under a virtual clock nothing runs beside the drain, so runs repeat."""

    def __init__(self, wake: Callable[[], None] = _nothing) -> None:
        """`wake` is called when a call has ended: `Cluster.wake`, as a thread would."""
        self._wake = wake
        self._ended: dict[Hashable, object] = {}

    def start(self, key: Hashable, call: Callable[[], object]) -> None:
        """Run it now, unless one of an equal key has not been collected yet."""
        if key in self._ended:
            return
        try:
            self._ended[key] = call()
        except PortError as error:
            self._ended[key] = error
        self._wake()

    def finished(self) -> Sequence[tuple[Hashable, object]]:
        """Key and value (or the `PortError` raised) of each call, once, in the order of starting."""
        ended = list(self._ended.items())
        self._ended.clear()
        return ended
