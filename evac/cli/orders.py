"""What the options of `evac replay` ask for, checked against one another."""

from dataclasses import dataclass
from pathlib import Path

from evac.cli.drain_options import duration_of
from evac.errors import InputError
from evac.scenario.files import STANDARD_INPUT
from evac.scenario.kinds import COMMAND
from evac.simulator import SimulatorOptions
from lambdas.domain.values.settings import Settings

_STARTUP = "10s"
_SHUTDOWN = "2s"
_FASTEST = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """A replay as it was asked for, the simulator's durations as they were typed. What is None was not given."""

    events: str | None = None
    clusters: tuple[str, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None
    is_dry_run: bool = False
    nodes: tuple[str, ...] = ()
    keeps_times: bool = False
    as_json: bool = False
    is_quiet: bool = False
    is_agreed: bool = False
    speed: float | None = None
    startup: str | None = None
    shutdown: str | None = None
    report: Path | None = None
    settings: Settings

    @property
    def is_live(self) -> bool:
        """Whether a real cluster is to be drained."""
        return self.kubeconfig is not None and not self.is_dry_run

    @property
    def options(self) -> SimulatorOptions:
        """The simulator's. Raises `InputError`."""
        return SimulatorOptions(
            startup=duration_of("--startup", self.startup or _STARTUP),
            shutdown=duration_of("--shutdown", self.shutdown or _SHUTDOWN),
        )

    def check(self) -> None:
        """Whether all of it goes together, before anything is read. Raises `InputError`."""
        self._check_what()
        self._check_where()
        self._check_watching()
        _ = self.options

    def _check_what(self) -> None:
        if self.events is None and not self.nodes:
            raise InputError(
                "nothing to replay: neither EVENTS nor --node is given",
                cure="name a file of EventBridge events, or --node NAME to make the notice itself",
            )
        if self.events == STANDARD_INPUT and STANDARD_INPUT in self.clusters:
            raise InputError("standard input can be read once", cure="put events or manifests into a file")

    def _check_where(self) -> None:
        if not self.clusters and self.kubeconfig is None:
            cure = f"give --cluster FILE with what this prints: {COMMAND}; or --kubeconfig FILE"
            raise InputError("no cluster is given", cure=cure)
        if self.clusters and self.kubeconfig is not None:
            raise InputError("--cluster and --kubeconfig are two clusters", cure="give one of them")
        if self.kubeconfig is None and self.context is not None:
            raise InputError("--context names a context of a kubeconfig", cure="add --kubeconfig FILE")
        if self.kubeconfig is None and self.is_dry_run:
            message = "--dry-run goes with --kubeconfig; a replay on --cluster files touches nothing anyway"
            raise InputError(message, cure="leave it out")

    def _check_watching(self) -> None:
        if self.speed is not None and not 0 < self.speed <= _FASTEST:
            raise InputError(f"--speed {self.speed:g} is no speed", cure="give virtual seconds a second, above 0: 10")
        if self.speed is not None and self.is_quiet:
            raise InputError("--speed is for watching, and --quiet shows the end only", cure="leave one of them out")
        if self.speed is not None and self.as_json:
            raise InputError("--speed is for watching, and JSON comes at the end", cure="leave one of them out")
        if self.is_live and (self.speed, self.startup, self.shutdown) != (None, None, None):
            raise InputError(
                "--speed, --startup and --shutdown are the simulator's; a real cluster takes its own time",
                cure="leave them out, or add --dry-run",
            )
