"""The implementations that the contracts are held against here: the simulator, and the ports in memory."""

from collections.abc import Iterator

import pytest

from tests.contract.simulated_world import SimulatedWorld


@pytest.fixture
def world() -> Iterator[SimulatedWorld]:
    """The simulator."""
    world = SimulatedWorld()
    yield world
    world.close()
