"""The adapter on a real API server keeps the `Cluster` port's contract."""

from collections.abc import Iterator

import pytest

from controlplane import Api, ControlPlane
from tests.cluster.world import ControlPlaneWorld
from tests.contract.cluster_contract import *  # noqa: F403 - all of its tests

pytestmark = pytest.mark.cluster


@pytest.fixture
def world(plane: ControlPlane, api: Api) -> Iterator[ControlPlaneWorld]:
    """The control plane."""
    world = ControlPlaneWorld(plane, api)
    yield world
    world.close()
