"""Every recorded body is read as the events' reference says."""

from datetime import datetime

import pytest

from lambdas.domain.decisions.events import parse
from lambdas.domain.values.messages import (
    Fulfilled,
    Gone,
    Ignored,
    Interruption,
    LifecycleLaunch,
    LifecycleTerminate,
    Malformed,
    Message,
    Rebalance,
    ScheduledChange,
)
from tests.unit.events.bodies import Case, recorded_cases, through_topics

CASES = recorded_cases()


def instances_of(message: Message) -> list[str] | None:
    match message:
        case Interruption():
            return [notice.instance_id for notice in message.notices]
        case ScheduledChange():
            return list(message.instance_ids)
        case Rebalance() | Gone() | Fulfilled():
            return [message.instance_id]
        case LifecycleTerminate() | LifecycleLaunch():
            return [message.hook.instance_id]
        case Ignored() | Malformed():
            return None


def assert_reads_as(body: str, expect: dict[str, object]) -> None:
    message = parse(body)
    assert message.kind == expect["kind"], message
    assert instances_of(message) == expect.get("instances")
    if isinstance(message, Interruption) and "reclaim_at" in expect:
        assert [n.reclaim_at for n in message.notices] == [datetime.fromisoformat(str(expect["reclaim_at"]))]
    if isinstance(message, ScheduledChange):
        assert message.starts_at == datetime.fromisoformat(str(expect["starts_at"]))


def test_the_file_of_cases_was_read() -> None:
    assert {case.expect["kind"] for case in CASES} == {
        "interruption",
        "rebalance",
        "ignored",
        "gone",
        "malformed",
        "scheduled_change",
        "lifecycle_terminate",
        "lifecycle_launch",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_body_is_what_it_is(case: Case) -> None:
    assert_reads_as(case.body, case.expect)


@pytest.mark.parametrize("topics", [1, 2, 5])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_topic_on_the_way_changes_nothing(case: Case, topics: int) -> None:
    assert_reads_as(through_topics(case.body, topics), case.expect)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bytes_are_read_like_text(case: Case) -> None:
    assert parse(case.body.encode()) == parse(case.body)
