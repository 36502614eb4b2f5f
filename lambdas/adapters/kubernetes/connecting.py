"""Puts the pieces together for one API server. The heavy packages are loaded here, when one is really asked."""

from importlib import import_module, metadata
from typing import TYPE_CHECKING

from lambdas.adapters.kubernetes.cluster import KubernetesCluster
from lambdas.adapters.kubernetes.endpoint import Endpoint, TokenSource
from lambdas.application.ports import Clock
from lambdas.contract import SERVICE
from lambdas.domain.errors import PermissionDenied

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_WORKERS = 16


def connect(
    endpoint: Endpoint, tokens: TokenSource, clock: Clock, *, prefetch: bool = False, workers: int = _WORKERS
) -> KubernetesCluster:
    """The cluster at an endpoint. No connection is made before the first request (`prefetch` makes two at once).

    Raises PermissionDenied for a certificate authority that is no PEM.
    """
    from lambdas.adapters.kubernetes.transport import configuration_for  # noqa: PLC0415 - heavy

    return connect_configured(configuration_for(endpoint), tokens, clock, prefetch=prefetch, workers=workers)


def connect_configured(
    configuration: "Configuration",
    tokens: TokenSource | None,
    clock: Clock,
    *,
    prefetch: bool = False,
    workers: int = _WORKERS,
) -> KubernetesCluster:
    """The cluster of a configuration of the official client, which is taken over.

    Without tokens we are who the configuration's client certificate says. Raises PermissionDenied for a certificate
    that cannot be read.
    """
    from lambdas.adapters.kubernetes.session import Session  # noqa: PLC0415 - heavy
    from lambdas.adapters.kubernetes.transport import Transport  # noqa: PLC0415 - heavy

    try:
        transport = Transport(configuration, carries_token=tokens is not None, agent=_agent())
    except OSError as error:  # ssl.SSLError is one
        raise PermissionDenied(f"the API server's certificate authority, or ours, cannot be used ({error})") from error
    return KubernetesCluster(Session(transport, tokens), clock, prefetch=prefetch, workers=workers)


def preload() -> None:
    """Import what `connect` needs, and nothing else: half a second that can pass beside something slow, or at init."""
    import_module("lambdas.adapters.kubernetes.session")


def _agent() -> str:
    """`evac/VERSION`; the version is known where the package is installed, which a Lambda asset is not."""
    try:
        return f"{SERVICE}/{metadata.version(SERVICE)}"
    except metadata.PackageNotFoundError:
        return SERVICE
