"""What EC2 says of the instances noticed: one call for all, and nobody waits long for it."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from lambdas.application.node_drain import NodeDrain, Phase
from lambdas.application.ports import Background, InstanceDirectory
from lambdas.domain.values.drains import Problem, Trouble
from lambdas.domain.values.notices import Instance

_PATIENCE = timedelta(seconds=1)
_PATIENCE_WHERE_EC2_DECIDES = timedelta(seconds=6)


class Lookups:
    """Starts the calls and hands their answers to the drains."""

    def __init__(
        self, drains: Sequence[NodeDrain], directory: InstanceDirectory | None, background: Background
    ) -> None:
        self._drains = drains
        self._directory = directory
        self._background = background
        self._asked_at: dict[str, datetime] = {}

    def advance(self, now: datetime) -> list[datetime]:
        """Ask for those that have just begun; who has waited long enough goes on without EC2. When to look again."""
        waiting = [d for d in self._drains if d.phase is Phase.LOOKING_UP]
        if self._directory is None:
            for drain in waiting:
                drain.looked_up(None, now, was_asked=False)
            return []
        self._ask(self._directory, [d.notice.instance_id for d in waiting], now)
        return [self._wait(drain, now) for drain in waiting]

    def _ask(self, directory: InstanceDirectory, ids: Iterable[str], now: datetime) -> None:
        new = tuple(i for i in ids if i not in self._asked_at)
        if new:
            self._asked_at.update(dict.fromkeys(new, now))
            self._background.start(("describe", new), lambda: directory.describe(new))

    def _wait(self, drain: NodeDrain, now: datetime) -> datetime:
        patience = _PATIENCE_WHERE_EC2_DECIDES if drain.may_be_stale else _PATIENCE
        ends = self._asked_at[drain.notice.instance_id] + patience
        if ends <= now:
            drain.trouble(Problem(Trouble.DIRECTORY, "EC2 did not answer in time; the node is listed instead"), now)
            drain.looked_up(None, now, was_asked=False)
        return ends

    def answered(self, ids: Iterable[str], value: object, now: datetime) -> None:
        """The outcome of one call: a mapping of instances, or the error."""
        for drain in self._drains:
            if drain.notice.instance_id not in ids:
                continue
            if isinstance(value, dict):
                instance = value.get(drain.notice.instance_id)
                drain.looked_up(instance if isinstance(instance, Instance) else None, now, was_asked=True)
            else:
                drain.trouble(Problem(Trouble.DIRECTORY, f"{value} The node is looked for without EC2."), now)
                drain.looked_up(None, now, was_asked=False)
