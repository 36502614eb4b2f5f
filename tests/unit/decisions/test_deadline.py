"""When a SIGTERM is due, and with how much grace."""

from datetime import timedelta

import pytest

from lambdas.domain.decisions.deadline import Deadline
from tests.unit.builders import SETTINGS, at, pod


@pytest.mark.parametrize(
    ("grace", "owner", "due"),
    [
        (30, "ReplicaSet", 85),
        (0, "ReplicaSet", 115),
        (60, "ReplicaSet", 55),
        (300, "ReplicaSet", 55),  # at most 60 s of it counts
        (300, "Job", 55),
        (90, None, 25),  # nobody replaces it: counted whole
        (600, None, -485),
    ],
)
def test_the_last_safe_moment_leaves_the_margin_and_the_grace_that_counts(
    grace: float, owner: str | None, due: float
) -> None:
    assert Deadline(at(120), SETTINGS).last_safe_moment(pod(grace=grace, owner=owner)) == at(due)


@pytest.mark.parametrize(
    ("grace", "now", "given"),
    [(30, 0, 30), (600, 0, 115), (30, 100, 15), (30, 114.5, 1), (30, 119, 1), (30, 500, 1), (0, 0, 1), (30, 85.4, 29)],
)
def test_the_grace_is_the_pods_own_clamped_to_what_is_left_in_whole_seconds(
    grace: float, now: float, given: float
) -> None:
    assert Deadline(at(120), SETTINGS).grace(pod(grace=grace), at(now)) == timedelta(seconds=given)
