"""Budgets that are being written are left alone for some milliseconds, and never for long."""

from dataclasses import replace

from lambdas.domain.decisions.settling import Settling
from tests.unit.builders import at, budget

WEB = budget("web")
REF = WEB.ref


def test_what_is_seen_for_the_first_time_has_been_still() -> None:
    settling = Settling()
    settling.saw([WEB], at(0))
    assert settling.settles_at(REF, at(0)) is None


def test_what_has_just_changed_is_asked_when_it_has_been_still_for_a_moment() -> None:
    settling = Settling()
    settling.saw([WEB], at(0))
    settling.saw([replace(WEB, version="2")], at(1))
    assert settling.settles_at(REF, at(1)) == at(1.015)
    settling.saw([replace(WEB, version="2")], at(1.01))
    assert settling.settles_at(REF, at(1.01)) == at(1.015)
    assert settling.settles_at(REF, at(1.015)) is None


def test_one_that_changes_on_and_on_is_asked_all_the_same() -> None:
    settling = Settling()
    settling.saw([WEB], at(0))
    waits = []
    for tick in range(30):
        now = at(1 + tick / 100)
        settling.saw([replace(WEB, version=str(tick + 2))], now)
        waits.append(settling.settles_at(REF, now))
    assert all(until is not None for until in waits[:11])
    assert waits[11] == at(1.12)
    assert not any(waits[12:])
