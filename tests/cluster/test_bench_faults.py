"""The faulty stretch of network of the bench, before a real API server."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from bench.beside.faults import Proxy, faulty
from controlplane import Api, ControlPlane
from controlplane.client import Client
from tests.scenes import node

pytestmark = pytest.mark.cluster

NODES = "/api/v1/nodes"


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    """A proxy that has seen nothing yet."""
    with faulty(plane) as proxy:
        yield proxy


@pytest.fixture
def client(plane: ControlPlane, proxy: Proxy) -> Iterator[Client]:
    """The admin, through it. A request on a connection that breaks is sent once more."""
    with closing(Client(proxy.url, plane.ca_file, plane.token())) as client:
        yield client


def test_the_tenth_answer_is_a_500_that_the_server_knows_nothing_of(client: Client, api: Api) -> None:
    answers = [client.get(NODES)[0] for _ in range(9)]
    assert answers == [200] * 9
    assert client.post(NODES, node("spot-a"))[0] == 500
    assert api.get(f"{NODES}/spot-a")[0] == 404


def test_the_twentieth_is_a_reset_after_the_server_did_what_it_was_asked(
    client: Client, proxy: Proxy, api: Api
) -> None:
    for _ in range(19):
        client.get(NODES)
    assert client.post(NODES, node("spot-a"))[0] == 409  # of the second try
    assert api.get(f"{NODES}/spot-a")[0] == 200
    assert proxy.faults == 2
