"""Whatever arrives, parsing ends in a value."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas import contract
from lambdas.domain.decisions.events import parse
from lambdas.domain.decisions.fields import is_instance_id
from lambdas.domain.values.messages import Ignored, Interruption, Malformed
from tests.unit.events.bodies import INSTANCE, TIME, an_event, recorded_cases, through_topics

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20)
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
TELLING = st.sampled_from(
    [INSTANCE, TIME, "hibernate", "stopping", "EC2", "scheduledChange", "autoscaling:EC2_INSTANCE_TERMINATING"]
)
FIELD_NAMES = st.sampled_from(
    [
        "detail", "detail-type", "source", "time", "Time", "instance-id", "instance-action", "state", "Message", "Type",
        "Event", "LifecycleTransition", "EC2InstanceId", "AutoScalingGroupName", "LifecycleHookName", "service",
        "eventTypeCategory", "startTime", "affectedEntities", "entityValue", "replay-name", "instance-termination-time",
    ]
)  # fmt: skip
DETAIL_TYPES = st.sampled_from(
    [contract.DETAIL_SPOT_INTERRUPTION, contract.DETAIL_STATE_CHANGE, contract.DETAIL_HEALTH, contract.DETAIL_REBALANCE]
)
SOURCES = st.sampled_from([contract.SOURCE_EC2, contract.SOURCE_HEALTH, contract.SOURCE_AUTO_SCALING])
DETAILS = st.recursive(
    ANY_JSON | TELLING,
    lambda inner: st.dictionaries(FIELD_NAMES, inner, max_size=5) | st.lists(inner, max_size=3),
    max_leaves=12,
)


def assert_is_a_sound_value(body: str | bytes) -> None:
    message = parse(body)
    match message:
        case Interruption():
            assert all(is_instance_id(notice.instance_id) for notice in message.notices)
            assert all(notice.reclaim_at.utcoffset() is not None for notice in message.notices)
        case Malformed() | Ignored():
            assert message.reason
            assert message.reason.isascii()
            assert message.reason.isprintable()
            assert len(message.reason) < 500


@given(st.text(st.characters(codec=None)) | st.binary())
def test_any_text_and_any_bytes_end_in_a_value(body: str | bytes) -> None:
    assert_is_a_sound_value(body)


@given(ANY_JSON)
def test_any_json_ends_in_a_value(value: Any) -> None:
    assert_is_a_sound_value(json.dumps(value))


@given(DETAIL_TYPES | ANY_JSON, SOURCES | ANY_JSON, DETAILS, ANY_JSON | st.just(TIME))
def test_an_envelope_of_any_content_ends_in_a_value(detail_type: Any, source: Any, detail: Any, time: Any) -> None:
    assert_is_a_sound_value(json.dumps(an_event(detail_type, source, detail, time=time)))


@given(st.dictionaries(FIELD_NAMES, DETAILS, max_size=8), st.integers(0, 3))
def test_an_object_of_any_content_through_any_topics_ends_in_a_value(value: Any, topics: int) -> None:
    assert_is_a_sound_value(through_topics(json.dumps(value), topics))


@given(st.sampled_from(recorded_cases()), st.data())
def test_a_body_cut_anywhere_is_never_taken_for_a_notice(case: Any, data: st.DataObject) -> None:
    cut = case.body[: data.draw(st.integers(0, max(0, len(case.body) - 1)))]
    assert isinstance(parse(cut), Malformed)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"Message":'])
def test_endless_nesting_is_malformed(opening: str) -> None:
    assert isinstance(parse(opening * 200_000), Malformed)


def test_deep_but_closed_nesting_is_malformed_or_read_but_never_raises() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert isinstance(parse(json.dumps(an_event()).replace('"terminate"', deep)), Malformed | Interruption)


def test_topics_without_end_are_refused_and_a_reasonable_number_is_not() -> None:
    body = json.dumps(an_event())
    assert isinstance(parse(through_topics(body, 8)), Interruption)
    message = parse(through_topics(body, 9))
    assert isinstance(message, Malformed)
    assert message.reason.endswith("wrapped more than 8 times")


def test_of_a_repeated_key_the_last_value_counts_as_in_event_bridge_s_own_patterns() -> None:
    body = json.dumps(an_event()).replace('"instance-id": "', '"instance-id": "../..", "instance-id": "')
    message = parse(body)
    assert isinstance(message, Interruption)
    assert message.notices[0].instance_id == INSTANCE


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-0", "1" + "0" * 400])
def test_numbers_of_any_size_as_ids_are_malformed(number: str) -> None:
    body = json.dumps(an_event()).replace(f'"{INSTANCE}"', number)
    assert isinstance(parse(body), Malformed)


def test_half_a_character_is_shown_and_not_choked_on() -> None:
    message = parse(json.dumps(an_event(detail={"instance-id": "i-\ud800"})))
    assert message == Malformed('detail.instance-id: "i-\\ud800" is no instance id')
    assert isinstance(parse('{"detail-type": "\ud800", "source": "\udfff", "detail": {}}'), Ignored)
