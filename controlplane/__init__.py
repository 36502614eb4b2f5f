"""A real Kubernetes control plane on loopback, for tests and benches: what the simulator is held against."""

from controlplane.api import Api
from controlplane.audit import Request
from controlplane.binaries import provide
from controlplane.credentials import ADMIN, Identity
from controlplane.errors import ApiError, BuildError, ControlPlaneError, StartError
from controlplane.pins import NEWEST, versions
from controlplane.plane import ControlPlane
from controlplane.polling import until

__all__ = [
    "ADMIN",
    "NEWEST",
    "Api",
    "ApiError",
    "BuildError",
    "ControlPlane",
    "ControlPlaneError",
    "Identity",
    "Request",
    "StartError",
    "provide",
    "until",
    "versions",
]
