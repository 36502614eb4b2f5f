"""What became of a pod is told by what the API showed of it, and by the moment at which the host was taken."""

import pytest

from bench.beside.facts import Fact
from bench.beside.fates import Fate, fates
from tests.unit.bench.recorded import NOTICE, gone, left, pod


def fate_of(facts: list[Fact]) -> Fate:
    [fate] = fates(facts, NOTICE, ["spot-1"])
    return fate


def test_a_pod_that_was_gone_in_time_after_its_whole_shutdown_left_gracefully() -> None:
    fate = fate_of(left("a", 10, 12))
    assert (fate.signalled, fate.gone) == (10, 12)
    assert fate.is_graceful
    assert not fate.is_too_late


def test_a_pod_that_was_never_signalled_is_killed_with_its_host() -> None:
    fate = fate_of([pod(-1, "a"), pod(200, "a", leaving=True), gone(200, "a")])
    assert fate.is_killed
    assert not fate.is_too_late


def test_a_pod_signalled_a_second_before_the_end_is_killed_and_was_too_late() -> None:
    fate = fate_of(left("a", 119, 121))
    assert fate.is_killed
    assert fate.is_too_late


@pytest.mark.parametrize(("grace", "given", "is_graceful"), [(30, 5, False), (30, 25, True), (10, 10, True)])
def test_a_grace_shorter_than_the_pod_needs_and_may_have_cuts_it_short(
    grace: float, given: float, is_graceful: bool
) -> None:
    fate = fate_of(left("a", 10, 10 + given, shutdown=20, grace=grace, given=given))
    assert fate.is_graceful is is_graceful
    assert fate.is_too_late is not is_graceful
    assert not fate.is_killed


def test_a_grace_shortened_afterwards_counts_as_it_was_shortened() -> None:
    shortened = pod(12, "a", leaving=True, shutdown=20, given=3)
    fate = fate_of([pod(-1, "a", shutdown=20), pod(10, "a", leaving=True, shutdown=20), shortened, gone(15, "a")])
    assert fate.is_too_late


def test_pods_elsewhere_and_pods_gone_before_the_notice_are_nobodys_fate() -> None:
    assert fates([pod(-1, "a", on="other"), pod(-5, "b"), gone(-2, "b")], NOTICE, ["spot-1"]) == []


def test_a_pod_placed_on_the_node_after_the_notice_is_one_more_to_be_lost() -> None:
    assert len(fates([pod(-1, "a"), pod(3, "b", ready=False)], NOTICE, ["spot-1"])) == 2
