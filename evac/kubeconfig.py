"""A person's own way into a cluster: a kubeconfig and one of its contexts, read as the official client reads them.

Law: without an identity nothing is sent. The official client goes on as nobody where an exec plugin fails; here that
is an error, with the plugin's own words.
"""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from evac.errors import InputError
from lambdas.adapters.kubernetes import KubernetesCluster, connect_configured
from lambdas.application.ports import Clock
from lambdas.domain.errors import PermissionDenied, PortError

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_BEARER = "Bearer "
_USUAL = "~/.kube/config"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a kubeconfig leads: names as they stand in it, and the server's address. `place`: the file or files."""

    place: str
    context: str
    cluster: str
    server: str


def target_of(kubeconfig: str | None, context: str | None) -> Target:
    """Where the context leads, without running its plugin or asking the server. Raises InputError."""
    return _Source(kubeconfig, context).target()


def cluster_of(kubeconfig: str | None, context: str | None, clock: Clock) -> KubernetesCluster:
    """The cluster of a kubeconfig's context, under that person's own name and rights.

    `kubeconfig`: a file, or several joined as in KUBECONFIG; None for that variable or the usual place. `context`: None
    for its current one. Exec plugins (`aws eks get-token`) are run, and run again when their token has expired or is
    refused. Raises InputError.
    """
    source = _Source(kubeconfig, context)
    configuration = source.load()
    is_by_token = bool(configuration.api_key)
    tokens = KubeconfigTokens(source, configuration) if is_by_token else None
    try:
        return connect_configured(configuration, tokens, clock)
    except PortError as error:
        raise InputError(str(error), place=source.place, cure="correct the certificates that it names") from error


class _Source:
    """Where an identity comes from, to be read again when its token has run out."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        self._context = context
        self.place = os.path.expanduser(kubeconfig or os.environ.get("KUBECONFIG") or _USUAL)

    def target(self) -> Target:
        """What it says of the context. Raises InputError."""
        from kubernetes.config.kube_config import KubeConfigMerger  # noqa: PLC0415 - the heavy package

        def read() -> Target:
            found = KubeConfigMerger(self.place).config  # type: ignore[no-untyped-call]
            name = str(self._context or found["current-context"])
            cluster = str(found["contexts"].get_with_name(name)["context"]["cluster"])
            server = str(found["clusters"].get_with_name(cluster)["cluster"]["server"])
            return Target(self.place, name, cluster, server)

        return self._reading(read)

    def load(self) -> "Configuration":
        """Read it, and run its plugin if it has one. Raises InputError."""
        # The heavy package, only for whoever drains a real cluster.
        from kubernetes.client import Configuration  # noqa: PLC0415
        from kubernetes.config import load_kube_config  # noqa: PLC0415

        configuration = Configuration()

        def read() -> None:
            load_kube_config(self.place, self._context, configuration, persist_config=False)  # type: ignore[no-untyped-call]

        with _Heard() as heard:
            self._reading(read)
        self._check(configuration, "; ".join(heard.lines))
        return configuration

    def _reading(self, read: Callable[[], T]) -> T:
        """What `read` finds, its errors in our words."""
        from kubernetes.config import ConfigException  # noqa: PLC0415 - the heavy package
        from yaml import YAMLError  # noqa: PLC0415

        self._check_files()
        try:
            return read()
        except OSError as error:
            where = "" if error.filename == self.place else f"{error.filename}: "
            raise self._error(f"{where}{error.strerror}", "name a file that can be read") from None
        except YAMLError as error:
            raise self._error(f"no YAML{_place_in(error)}", "correct the file") from None
        except ConfigException as error:
            raise self._error(_without_entry(str(error)), "check the file and the context") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._error(f"no kubeconfig ({type(error).__name__})", "check the file") from None

    def _check_files(self) -> None:
        """Of several files those that are missing do not matter, as with kubectl."""
        there = [path for path in self.place.split(os.pathsep) if os.path.exists(path)]
        if not there:
            raise self._error("no such file or folder", "name one with --kubeconfig FILE, or set KUBECONFIG")
        for path in there:
            if os.path.isfile(path) and os.path.getsize(path) == 0:
                raise InputError("the file is empty", place=path, cure="aws eks update-kubeconfig writes one")

    def _check(self, configuration: "Configuration", heard: str) -> None:
        token = str(configuration.api_key.get("BearerToken", ""))
        if token and not token.startswith(_BEARER):
            raise self._error("passwords are no identity since Kubernetes 1.19", "use a token, certificate or plugin")
        if token or configuration.cert_file or not configuration.host.startswith("https:"):
            return
        cure = "if its user runs a command (such as aws eks get-token), run that by hand: it must print a token"
        raise self._error(f"this context gives no identity{f' ({heard})' if heard else ''}", cure)

    def _error(self, message: str, cure: str) -> InputError:
        context = f" [{self._context}]" if self._context else ""
        return InputError(message, place=f"{self.place}{context}", cure=cure)


def _place_in(error: object) -> str:
    """Where the file is broken; what stands there may be a secret."""
    mark = getattr(error, "problem_mark", None)
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _without_entry(message: str) -> str:
    """The official client names an entry by all that is in it, secrets too."""
    return message.partition("/{")[0]


class KubeconfigTokens:
    """Tokens as the official client loads them."""

    def __init__(self, source: _Source, configuration: "Configuration") -> None:
        self._source = source
        self._configuration = configuration
        self._lock = threading.Lock()

    def token(self) -> str:
        """The token in use; minted anew where it says itself that it has expired."""
        with self._lock:
            return self._read()

    def renew(self) -> str:
        """Read the kubeconfig, and run its plugin, again. Raises PermissionDenied."""
        with self._lock:
            try:
                self._configuration = self._source.load()
            except InputError as error:
                raise PermissionDenied(str(error)) from error
            return self._read()

    def _read(self) -> str:
        with _Heard():
            value = str(self._configuration.get_api_key_with_prefix("BearerToken") or "")
        return value.removeprefix(_BEARER)


class _Heard(logging.Handler):
    """What the official client only logs: why a plugin gave no token."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, shortened."""
        self.lines.append(record.getMessage()[:300])

    def __enter__(self) -> "_Heard":
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
        self.close()
