"""What the options of `evac replay` ask for, checked against one another."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from evac.errors import InputError
from evac.scenario.durations import read_duration
from evac.scenario.files import STANDARD_INPUT
from evac.scenario.kinds import COMMAND
from lambdas.domain.values.settings import Settings

_STARTUP = timedelta(seconds=10)
_SHUTDOWN = timedelta(seconds=2)
_FASTEST = 1e6


@dataclass(frozen=True, slots=True)
class Orders:
    """A replay as it was asked for. `clusters` are files; empty where `kubeconfig` names a cluster."""

    events: str | None
    clusters: tuple[str, ...]
    kubeconfig: str | None
    context: str | None
    is_dry_run: bool
    nodes: tuple[str, ...]
    keeps_times: bool
    speed: float | None
    startup: timedelta
    shutdown: timedelta
    settings: Settings

    @property
    def is_live(self) -> bool:
        """Whether a real cluster is to be drained."""
        return self.kubeconfig is not None and not self.is_dry_run

    @classmethod
    def checked(  # noqa: PLR0913 - as many as the command has options
        cls,
        *,
        events: str | None = None,
        clusters: tuple[str, ...] = (),
        kubeconfig: str | None = None,
        context: str | None = None,
        is_dry_run: bool = False,
        nodes: tuple[str, ...] = (),
        keeps_times: bool = False,
        speed: float | None = None,
        startup: str | None = None,
        shutdown: str | None = None,
        margin: str = "5s",
        grace_counted: str = "60s",
        deletes_at_last_safe_moment: bool = True,
    ) -> Self:
        """The orders that the options make. Raises `InputError` where they do not go together."""
        orders = cls(
            events=events,
            clusters=clusters,
            kubeconfig=kubeconfig,
            context=context,
            is_dry_run=is_dry_run,
            nodes=tuple(dict.fromkeys(nodes)),
            keeps_times=keeps_times,
            speed=speed,
            startup=_STARTUP if startup is None else _duration("--startup", startup),
            shutdown=_SHUTDOWN if shutdown is None else _duration("--shutdown", shutdown),
            settings=Settings(
                margin=_duration("--margin", margin, most=60),
                grace_counted=_duration("--grace-counted", grace_counted, most=120),
                deletes_at_last_safe_moment=deletes_at_last_safe_moment,
            ),
        )
        orders._check_what()
        orders._check_where()
        if orders.is_live and (speed is not None or startup is not None or shutdown is not None):
            raise InputError(
                "--speed, --startup and --shutdown are the simulator's; a real cluster takes its own time",
                cure="leave them out, or add --dry-run",
            )
        return orders

    def _check_what(self) -> None:
        if self.events is None and not self.nodes:
            raise InputError(
                "nothing to replay: neither EVENTS nor --node is given",
                cure="name a file of EventBridge events, or --node NAME to make the notice itself",
            )
        if self.speed is not None and not 0 < self.speed <= _FASTEST:
            raise InputError(f"--speed {self.speed:g} is no speed", cure="give virtual seconds a second, above 0: 10")
        if self.events == STANDARD_INPUT and STANDARD_INPUT in self.clusters:
            raise InputError("standard input can be read once", cure="put events or manifests into a file")

    def _check_where(self) -> None:
        if not self.clusters and self.kubeconfig is None:
            raise InputError(
                "no cluster is given",
                cure=f"give --cluster FILE with what this prints: {COMMAND}; or --kubeconfig FILE",
            )
        if self.clusters and self.kubeconfig is not None:
            raise InputError("--cluster and --kubeconfig are two clusters", cure="give one of them")
        if self.kubeconfig is None and self.context is not None:
            raise InputError("--context names a context of a kubeconfig", cure="add --kubeconfig FILE")
        if self.kubeconfig is None and self.is_dry_run:
            raise InputError(
                "--dry-run goes with --kubeconfig; a replay on --cluster files touches nothing anyway",
                cure="leave it out",
            )


def _duration(option: str, text: str, most: int | None = None) -> timedelta:
    try:
        duration = read_duration(text)
    except InputError as error:
        raise InputError(f"{option}: {error.message}", cure=error.cure) from None
    if most is not None and duration > timedelta(seconds=most):
        raise InputError(f"{option}: {text!r} is more than {most}s", cure=f"give 0s to {most}s")
    return duration
