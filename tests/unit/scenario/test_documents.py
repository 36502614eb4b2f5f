"""Documents: JSON and YAML told apart, and each kind of breakage with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evac.errors import InputError
from evac.scenario.documents import read_documents
from evac.scenario.files import Text


def values(content: str) -> list[object]:
    return [document.value for document in read_documents(Text("c.yaml", content))]


def complaint(content: str) -> InputError:
    with pytest.raises(InputError) as caught:
        values(content)
    assert caught.value.cure
    return caught.value


def test_a_stream_of_yaml_documents_is_read_in_order() -> None:
    assert values("a: 1\n---\n---\nb: 2\n") == [{"a": 1}, None, {"b": 2}]


def test_json_documents_may_follow_one_another() -> None:
    assert values('{"a": 1}\n{\n "b": [2]}') == [{"a": 1}, {"b": [2]}]


def test_yaml_may_begin_with_a_brace() -> None:
    assert values("{a: b}\n---\nc: d") == [{"a": "b"}, {"c": "d"}]


def test_moments_stay_the_strings_that_the_api_has() -> None:
    assert values("at: 2026-11-02T03:04:05Z\nday: 2026-11-02\nis: =") == [
        {"at": "2026-11-02T03:04:05Z", "day": "2026-11-02", "is": "="}
    ]


def test_aliases_are_expanded_into_copies_of_their_own() -> None:
    [document] = values("a: &x {b: [1]}\nc: *x")
    assert isinstance(document, dict)
    assert document["a"] == document["c"]
    assert document["a"] is not document["c"]
    assert document["a"]["b"] is not document["c"]["b"]


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        ("a: b\nc: [1, 2\n", "c.yaml:3:1", "not YAML"),
        ("a:\n\t- b", "c.yaml:2:1", "not YAML"),
        ('{"a": 1,\n "b": }', "c.yaml:2:7", "not JSON"),
        ("a: !!python/object:os.system x", "c.yaml:1:4", "tag"),
        ("a: !!int many", "c.yaml:1:4", "not a number"),
        ("a: *nowhere", "c.yaml:1:4", "alias"),
        ("ok: 1\na: b\x01", "c.yaml:2", "U+0001"),
        ("? [a]\n: b", "c.yaml:1:3", "unhashable"),
        ('{"a": "b', "c.yaml:1:7", "not JSON"),
    ],
)
def test_what_is_broken_is_named_with_line_and_column(content: str, place: str, words: str) -> None:
    error = complaint(content)
    assert error.place == place
    assert words in error.message


def test_a_tab_has_its_own_cure() -> None:
    assert "spaces" in complaint("a:\n\t- b").cure


def _laughs(levels: int, each: str) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} {each.replace('*', f'*a{i - 1}')}" for i in range(1, levels)]
    return "\n".join(lines)


def test_a_billion_laughs_are_refused() -> None:
    assert "aliases" in complaint(_laughs(12, "[*, *, *, *, *, *, *, *, *]")).message


def test_merge_keys_are_refused_before_they_multiply() -> None:
    assert "merge" in complaint(_laughs(40, "{<<: [*, *]}").replace("[x, x, x, x, x, x, x, x, x]", "{x: 1}")).message


def test_an_alias_within_itself_is_refused() -> None:
    assert "nested" in complaint("a: &a [*a]").message


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "- " * 100_000, "[" * 1500 + "]" * 1500])
def test_deep_nesting_is_refused(content: str) -> None:
    complaint(content)


@pytest.mark.parametrize("content", ['{"a": NaN}', '{"a": ' + "1" * 5000 + "}"])
def test_numbers_that_json_does_not_have_are_no_traceback(content: str) -> None:
    try:
        values(content)
    except InputError as error:
        assert error.cure  # noqa: PT017 - either is well, a traceback is not


_WORDS = ["a: ", "- ", "&a ", "*a", "<<: ", "!!int ", "!!map ", "!!float ", "!x ", "? ", ": ", "\n  ", "\n---\n"]
_VALUES = ["...", "%YAML 1.1", "0x", "1:30", ".inf", "yes"]
_SCRAPS = st.sampled_from([*_WORDS, *_VALUES, *"{}[]'\"|~=#\n\t\x85"])


@settings(max_examples=400, deadline=None)
@given(st.lists(_SCRAPS, max_size=16).map("".join) | st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_no_text_raises_anything_but_a_complaint(content: str) -> None:
    try:
        values(content)
    except InputError as error:
        assert error.place.startswith("c.yaml")  # noqa: PT017 - reading it is as well
