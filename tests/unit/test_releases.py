"""The memory of a release is read as it was written, and nothing else is taken for one."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.contract import LABEL_RELEASED
from lambdas.domain.values.releases import (
    DELETION_COST,
    DO_NOT_DISRUPT,
    WRITTEN_ON_RELEASE,
    Released,
    decode_release,
    encode_release,
    is_marked_released,
    released_hash,
)

NOW = datetime(2026, 11, 2, 3, 4, 5, 678901, tzinfo=UTC)
FORMER = {**dict.fromkeys(WRITTEN_ON_RELEASE), DELETION_COST: "7"}
RELEASED = Released("web-5d4", "uid-rs", "web", "uid-deploy", "5d4", NOW, FORMER)
MOMENTS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]))
FORMERS = st.fixed_dictionaries({key: st.none() | st.text() for key in WRITTEN_ON_RELEASE})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = json.loads(encode_release(RELEASED))


@given(st.builds(Released, st.text(), st.text(), st.text(), st.text(), st.text(), MOMENTS, FORMERS))
def test_a_release_is_read_as_it_was_written(released: Released) -> None:
    assert decode_release(encode_release(released)) == released


def test_a_release_is_one_line_of_json_for_people_to_read() -> None:
    text = encode_release(RELEASED)
    assert "\n" not in text
    assert json.loads(text) == {
        "replicaSet": "web-5d4",
        "replicaSetUid": "uid-rs",
        "deployment": "web",
        "deploymentUid": "uid-deploy",
        "hash": "5d4",
        "at": "2026-11-02T03:04:05.678901+00:00",
        "former": FORMER,
    }


def test_what_a_newer_version_adds_is_no_harm() -> None:
    former = {**FORMER, "another.example/key": "x"}
    assert decode_release(json.dumps({**FIELDS, "more": [1, 2], "former": former})) == RELEASED


def test_of_former_values_those_that_are_missing_were_not_there() -> None:
    read = decode_release(json.dumps({**FIELDS, "former": {DO_NOT_DISRUPT: "false"}}))
    assert read
    assert read.former == {**dict.fromkeys(WRITTEN_ON_RELEASE), DO_NOT_DISRUPT: "false"}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [None, 7, True, [], [{}], {"a": {}}])
def test_a_release_with_a_field_that_is_no_text_is_none(name: str, value: object) -> None:
    if name == "former" and value == {"a": {}}:
        value = {DELETION_COST: {}}
    assert decode_release(json.dumps({**FIELDS, name: value})) is None


@pytest.mark.parametrize("name", FIELDS)
def test_a_release_without_one_of_its_fields_is_none(name: str) -> None:
    assert decode_release(json.dumps({key: value for key, value in FIELDS.items() if key != name})) is None


@pytest.mark.parametrize(
    "at", ["", "yesterday", "2026-11-02T03:04:05", "10000-01-01T00:00:00Z", "2026-13-02T03:04:05Z"]
)
def test_a_release_at_no_moment_is_none(at: str) -> None:
    assert decode_release(json.dumps({**FIELDS, "at": at})) is None


@pytest.mark.parametrize("text", [None, "", "?", "null", "[]", '"', "1" * 5000, "[" * 100_000, '{"at":' * 100_000])
def test_what_is_no_release_is_none(text: str | None) -> None:
    assert decode_release(text) is None


@given(st.text() | JSON.map(json.dumps) | st.dictionaries(st.sampled_from(list(FIELDS)), JSON).map(json.dumps))
def test_anybodys_text_is_read_without_harm(text: str) -> None:
    assert decode_release(text) is None


@given(st.dictionaries(st.sampled_from(list(FIELDS)), JSON))
def test_a_release_that_somebody_has_meddled_with_is_whole_or_none(change: dict[str, object]) -> None:
    read = decode_release(json.dumps({**FIELDS, **change}))
    assert read is None or decode_release(encode_release(read)) == read


@pytest.mark.parametrize(
    ("template_hash", "then"),
    [
        ("5d4f8c7b9", "released-5d4f8c7b9"),
        ("x" * 54, "released-" + "x" * 54),
        ("x" * 55, ""),
        ("", ""),
        ("released-5d4", ""),
    ],
)
def test_the_hash_of_a_released_pod_is_a_label_or_nothing(template_hash: str, then: str) -> None:
    assert released_hash(template_hash) == then


@pytest.mark.parametrize(
    ("labels", "is_released"),
    [
        ({}, False),
        ({LABEL_RELEASED: "true"}, True),
        ({LABEL_RELEASED: "returned"}, False),
        ({LABEL_RELEASED: ""}, False),
    ],
)
def test_a_pod_is_released_while_its_label_says_so(labels: dict[str, str], is_released: bool) -> None:
    assert is_marked_released(labels) is is_released
