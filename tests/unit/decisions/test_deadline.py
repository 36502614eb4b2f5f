"""When a SIGTERM is due, and with how much grace."""

from datetime import datetime, timedelta

import pytest

from lambdas.domain.decisions.deadline import Deadline, mark_of, time_left
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason
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


@pytest.mark.parametrize("grace", [0, 30, 86_400 * 365])
@pytest.mark.parametrize("owner", ["ReplicaSet", None])
def test_without_a_deadline_no_moment_is_the_last_safe_one_and_no_grace_is_clamped(
    grace: float, owner: str | None
) -> None:
    found = pod(grace=grace, owner=owner)
    deadline = Deadline(NO_DEADLINE, SETTINGS)
    assert deadline.last_safe_moment(found) == NO_DEADLINE
    assert deadline.grace(found, at(0)) == timedelta(seconds=max(1, grace))


@pytest.mark.parametrize(
    ("reclaim", "now", "words"),
    [(at(120), 2, "118 s left"), (at(120), 130, "0 s left"), (NO_DEADLINE, 0, "no deadline")],
)
def test_what_is_left_is_said_in_seconds_or_that_there_is_no_deadline(
    reclaim: datetime, now: float, words: str
) -> None:
    assert time_left(Notice("i-1", Reason.MAINTENANCE, at(0), reclaim), at(now)) == words


SPOT = Node("spot-a", "uid", "aws:///eu-west-1b/i-1")
PLAIN = Node("plain", "uid")


@pytest.mark.parametrize(
    ("reason", "reclaim", "node", "instance", "reclaim_at", "expires"),
    [
        (Reason.SPOT_INTERRUPTION, at(120), SPOT, "i-1", at(120), 120 + 900),
        (Reason.SPOT_INTERRUPTION, at(2), SPOT, "i-1", at(2), 5 + 900),  # late: it outlives this drain
        (Reason.MAINTENANCE, at(600), PLAIN, "plain", at(600), 600 + 900),
        (Reason.MAINTENANCE, NO_DEADLINE, SPOT, "i-1", None, 1 + 86_400),
        (Reason.MAINTENANCE, NO_DEADLINE, PLAIN, "plain", None, 1 + 86_400),
    ],
)
def test_the_mark_says_whose_it_is_until_when_and_never_of_a_reclaim_that_does_not_come(
    reason: Reason, reclaim: datetime, node: Node, instance: str, reclaim_at: datetime | None, expires: float
) -> None:
    mark = mark_of(Notice(node.instance_id or node.name, reason, at(0), reclaim), node, at(1), at(5))
    assert (mark.instance_id, mark.reason, mark.reclaim_at) == (instance, reason.value, reclaim_at)
    assert (mark.since, mark.expires_at) == (at(1), at(expires))
