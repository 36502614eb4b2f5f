"""Bodies out of event files: one, an array, one a line, wrapped by queues; and broken ones kept as they are."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evac.errors import InputError
from evac.scenario.events import Body, read_bodies
from lambdas.domain.decisions.events import parse
from lambdas.domain.values.messages import Interruption, Malformed
from tests.scenes import Json, spot_notice

ONE, TWO = spot_notice("spot-a"), spot_notice("spot-b", seconds=30)


def bodies(tmp_path: Path, content: str, name: str = "e.json") -> list[Body]:
    path = tmp_path / name
    path.write_text(content)
    return read_bodies(str(path))


def complaint(tmp_path: Path, content: str) -> InputError:
    with pytest.raises(InputError) as caught:
        bodies(tmp_path, content)
    assert caught.value.cure
    return caught.value


def instances(found: list[Body]) -> list[str]:
    messages = [parse(body.text) for body in found]
    return [n.instance_id for m in messages if isinstance(m, Interruption) for n in m.notices]


BOTH = [ONE["detail"]["instance-id"], TWO["detail"]["instance-id"]]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([ONE, TWO]),
        json.dumps([json.dumps(ONE), json.dumps(TWO)]),
        f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n",
        f"{json.dumps(ONE, indent=2)}\n\n{json.dumps(TWO, indent=2)}",
        json.dumps(
            {"Records": [{"messageId": "1", "body": json.dumps(ONE)}, {"messageId": "2", "body": json.dumps(TWO)}]}
        ),
        json.dumps({"Messages": [{"Body": json.dumps(ONE)}, {"Body": json.dumps(TWO)}]}),
    ],
    ids=["array", "array of bodies", "lines", "one after the other", "Lambda's batch", "receive-message"],
)
def test_every_way_of_keeping_two_events_gives_two(tmp_path: Path, content: str) -> None:
    assert instances(bodies(tmp_path, content)) == BOTH


def test_a_body_that_a_topic_wrapped_is_left_to_the_parser(tmp_path: Path) -> None:
    wrapped = {"Type": "Notification", "Message": json.dumps(ONE)}
    assert instances(bodies(tmp_path, json.dumps(wrapped))) == BOTH[:1]


def test_a_broken_line_among_good_ones_is_a_body_of_its_own(tmp_path: Path) -> None:
    found = bodies(tmp_path, f'{json.dumps(ONE)}\n{{"version": "0", \n{json.dumps(TWO)}\n')
    assert [body.place.rpartition(":")[2] for body in found] == ["1", "2", "3"]
    assert [isinstance(parse(body.text), Malformed) for body in found] == [False, True, False]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ('{"detail-type": ', "e.json:1:17"),
        ("not json", "e.json:1:1"),
        (json.dumps([ONE, TWO], indent=1)[:-2], None),
        ("[\n" + json.dumps(ONE) + ",\n" + json.dumps(TWO) + "\n", None),
    ],
    ids=["cut off", "text", "array cut off", "array of lines without its end"],
)
def test_a_file_that_is_no_json_is_named_with_line_and_column(tmp_path: Path, content: str, place: str | None) -> None:
    error = complaint(tmp_path, content)
    assert place is None or error.place.endswith(place)
    assert error.place.rpartition(":")[2].isdigit()


@pytest.mark.parametrize("content", ["", "  \n", "[]"])
def test_a_file_without_an_event_says_so(tmp_path: Path, content: str) -> None:
    assert "no event" in complaint(tmp_path, content).message


@pytest.mark.parametrize(
    "content", ['{"apiVersion": "v1", "kind": "List", "items": []}', "apiVersion: v1\nkind: List\n"]
)
def test_manifests_given_as_events_are_told_where_they_belong(tmp_path: Path, content: str) -> None:
    assert "--cluster" in complaint(tmp_path, content).cure


def test_a_folder_gives_all_its_events_and_passes_manifests_over(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(ONE))
    (tmp_path / "2.jsonl").write_text(json.dumps(TWO))
    (tmp_path / "3.json").write_text('{"apiVersion": "v1", "kind": "List", "items": []}')
    assert instances(read_bodies(str(tmp_path))) == BOTH


@pytest.mark.parametrize("item", [1, None, "text", [], {}, {"detail": None}])
def test_an_array_may_hold_anything_and_each_item_has_its_fate(tmp_path: Path, item: object) -> None:
    found = bodies(tmp_path, json.dumps([item, ONE]))
    assert isinstance(parse(found[0].text), Malformed)
    assert instances(found) == BOTH[:1]


_JSON: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Records", "Messages", "body", "Body", "kind", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_JSON | st.text(max_size=30))
def test_no_content_raises_anything_but_a_complaint(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    raw = value if isinstance(value, str) else json.dumps(value)
    path.write_bytes(raw.encode(errors="surrogatepass"))
    try:
        for body in read_bodies(str(path)):
            parse(body.text)
    except InputError as error:
        assert error.cure  # noqa: PT017 - bodies are as well


def test_bodies_know_where_they_stand(tmp_path: Path) -> None:
    places: list[Json] = [ONE, TWO]
    assert [body.place.rpartition("/")[2] for body in bodies(tmp_path, json.dumps(places))] == [
        "e.json[0]",
        "e.json[1]",
    ]
