"""The ports in memory keep the contracts of their real counterparts."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from evac.memory import InlineBackground, MemoryDirectory, MemoryLease, MemoryLedger, MemoryMalformed
from lambdas.application.ports import MessageLease
from lambdas.domain.errors import PassingError
from lambdas.domain.values.notices import Instance
from tests.contract.directory_contract import *  # noqa: F403 - all of its tests
from tests.contract.ledger_contract import *  # noqa: F403 - all of its tests
from tests.contract.ledger_contract import a_notice, a_record, at
from tests.contract.messages_contract import *  # noqa: F403 - all of its tests


class Account:
    """Instances in memory."""

    def __init__(self) -> None:
        self.directory = MemoryDirectory()
        self._launched: dict[str, Instance] = {}

    def launch(self, *cluster_names: str) -> str:
        name = f"i-{len(self._launched):017x}"
        self._put(Instance(name, "running", f"{name}.internal", frozenset(cluster_names)))
        return name

    def terminate(self, instance_id: str) -> None:
        self._put(Instance(instance_id, "terminated", "", self._launched[instance_id].cluster_names))

    def _put(self, instance: Instance) -> None:
        self._launched[instance.instance_id] = instance
        self.directory.put(instance)


class Queue:
    """A delivery in memory."""

    def __init__(self) -> None:
        self._lease = MemoryLease()

    def receive(self, number: int) -> tuple[list[str], MessageLease]:
        ids = [f"m-{i}" for i in range(number)]
        self._lease = MemoryLease(ids)
        return ids, self._lease

    def is_held_for(self, message_id: str) -> timedelta | None:
        return self._lease.visibility_of(message_id)


class Kept:
    """Malformed messages in memory."""

    def __init__(self) -> None:
        self.port = MemoryMalformed()

    def all(self) -> list[tuple[str, str]]:
        return self.port.kept


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def instances() -> Account:
    return Account()


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_a_ledger_that_is_away_says_so() -> None:
    ledger = MemoryLedger()
    ledger.error = PassingError("away")
    with pytest.raises(PassingError):
        ledger.acquire(a_notice(), "a", at(0), at(15))
    with pytest.raises(PassingError):
        ledger.finish(a_record(), "a", at(0))
    assert ledger.records == []


def test_the_other_services_may_be_away_too() -> None:
    away = PassingError("away")
    directory, lease, malformed = MemoryDirectory(), MemoryLease(), MemoryMalformed()
    directory.error = lease.error = malformed.error = away
    with pytest.raises(PassingError):
        directory.describe(["i-1"])
    with pytest.raises(PassingError):
        lease.hold(["m"], timedelta(seconds=1))
    with pytest.raises(PassingError):
        malformed.keep("x", "y")
    assert directory.asked == [("i-1",)]


def test_the_inline_background_wakes_its_loop_for_every_call() -> None:
    woken: list[Mapping[object, object]] = []
    background = InlineBackground(lambda: woken.append({}))
    background.start("a", lambda: 1)
    background.start("a", lambda: 2)
    background.start("b", lambda: 3)
    assert len(woken) == 2
