"""What every `DrainLedger` owes. A `ledger` fixture gives an empty one."""

from datetime import UTC, datetime, timedelta

import pytest

from lambdas.application.ports import DrainLedger
from lambdas.domain.values.drains import DrainRecord, Ending
from lambdas.domain.values.locks import Acquired, Ended, Held, Lock
from lambdas.domain.values.notices import Notice, Reason

NOTICED = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)
DONE = (Ending.DRAINED, Ending.PODS_LOST)


def at(seconds: float) -> datetime:
    return NOTICED + timedelta(seconds=seconds)


def a_notice(instance_id: str = "i-0123456789abcdef0", noticed: float = 0) -> Notice:
    return Notice(instance_id, Reason.SPOT_INTERRUPTION, at(noticed), at(noticed + 120))


def a_record(ending: Ending = Ending.DRAINED, ended: float = 40, noticed: float = 0) -> DrainRecord:
    return DrainRecord(a_notice(noticed=noticed), ending, "spot-a", at(noticed), at(ended))


def take(ledger: DrainLedger, owner: str, now: float, notice: Notice | None = None) -> Lock:
    return ledger.acquire(notice or a_notice(), owner, at(now), at(now + 15))


def test_a_free_nodes_lock_is_ours_until_it_expires(ledger: DrainLedger) -> None:
    assert take(ledger, "a", 1) == Acquired(at(16))


def test_a_lock_is_renewed_by_its_owner_and_by_nobody_else(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    assert take(ledger, "a", 6) == Acquired(at(21))
    assert take(ledger, "b", 20) == Held("a", at(21))


@pytest.mark.parametrize(("now", "lock"), [(15.999999, Held("a", at(16))), (16, Acquired(at(31)))])
def test_a_lock_that_was_not_renewed_is_anybodys(ledger: DrainLedger, now: float, lock: Lock) -> None:
    take(ledger, "a", 1)
    assert take(ledger, "b", now) == lock


def test_who_lost_a_lock_is_told_so(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    take(ledger, "b", 20)
    assert take(ledger, "a", 21) == Held("b", at(35))


def test_nodes_do_not_share_a_lock(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    assert take(ledger, "b", 1, a_notice("i-1a2b3c4d")) == Acquired(at(16))


@pytest.mark.parametrize("ending", DONE)
@pytest.mark.parametrize(("noticed", "is_done"), [(-60, True), (40, True), (40.000001, False), (3600, False)])
def test_a_drain_that_ended_since_the_notice_has_done_its_work(
    ledger: DrainLedger, ending: Ending, noticed: float, is_done: bool
) -> None:
    take(ledger, "a", 1)
    ledger.finish(a_record(ending), "a", at(40))
    lock = take(ledger, "b", 4000, a_notice(noticed=noticed))
    assert lock == (Ended(at(40), ending.value) if is_done else Acquired(at(4015)))


@pytest.mark.parametrize("ending", [e for e in Ending if e not in DONE])
def test_after_any_other_ending_somebody_is_to_try_again(ledger: DrainLedger, ending: Ending) -> None:
    take(ledger, "a", 1)
    ledger.finish(a_record(ending), "a", at(40))
    assert take(ledger, "b", 41) == Acquired(at(56))


def test_a_late_finish_never_frees_anothers_lock(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    take(ledger, "b", 20)
    ledger.finish(a_record(), "a", at(21))
    assert take(ledger, "c", 22) == Held("b", at(35))


def test_a_late_finish_never_overwrites_what_another_wrote(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    take(ledger, "b", 20)
    ledger.finish(a_record(Ending.DRAINED, 30), "b", at(30))
    ledger.finish(a_record(Ending.PODS_LOST, 120), "a", at(120))
    assert take(ledger, "c", 121) == Ended(at(30), "drained")


def test_an_expired_lock_that_nobody_took_is_good_for_its_record(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    ledger.finish(a_record(ended=100), "a", at(100))
    assert take(ledger, "b", 101) == Ended(at(100), "drained")


def test_a_drain_that_went_on_without_the_ledger_is_written_down_all_the_same(ledger: DrainLedger) -> None:
    ledger.finish(a_record(), "a", at(40))
    assert take(ledger, "b", 41) == Ended(at(40), "drained")


def test_a_new_notices_drain_follows_the_old_ones(ledger: DrainLedger) -> None:
    take(ledger, "a", 1)
    ledger.finish(a_record(), "a", at(40))
    assert take(ledger, "b", 1001, a_notice(noticed=1000)) == Acquired(at(1016))
    ledger.finish(a_record(Ending.PODS_LOST, 1120, noticed=1000), "b", at(1120))
    assert take(ledger, "c", 1121) == Ended(at(1120), "pods_lost")
