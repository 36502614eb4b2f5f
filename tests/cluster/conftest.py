"""One control plane for all cluster tests; each test finds it empty."""

import os
from collections.abc import Iterator

import pytest

from controlplane import NEWEST, Api, ControlPlane, Identity
from lambdas.contract import KUBERNETES_GROUP

HANDLER = Identity("handler", user="arn:aws:sts::123456789012:assumed-role/evac/session", groups=(KUBERNETES_GROUP,))


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """A running control plane; EVAC_CONTROL_PLANE_VERSION chooses another minor version than the newest."""
    with ControlPlane(os.environ.get("EVAC_CONTROL_PLANE_VERSION", NEWEST), identities=[HANDLER]) as plane:
        yield plane


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[Api]:
    """The admin's client; after the test all processes run, and what it made is gone."""
    api = Api(plane)
    yield api
    plane.restore()
    api.wipe()
    api.close()
