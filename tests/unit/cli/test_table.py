"""What a person reads: 80 columns, no terminal needed, the sum last."""

import re

import pytest

from evac.rendering.words import clean, enumerated, folded
from tests.unit.cli.typing_it import EXAMPLES, S1, evac

MIXED = ("replay", str(EXAMPLES / "mixed" / "events.jsonl"), "--cluster", str(EXAMPLES / "mixed"))


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_longer_than_the_screen(columns: int) -> None:
    lines = evac(*S1, columns=columns).stdout.splitlines()
    assert max(len(line) for line in lines) <= columns


def test_without_a_terminal_there_are_no_control_codes() -> None:
    for output in (evac(*S1).stdout, evac(*MIXED).stdout):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", output)


def test_colours_come_when_forced_and_go_with_no_color() -> None:
    assert "\x1b[" in evac(*S1, FORCE_COLOR="1").stdout
    assert "\x1b[3" not in evac(*S1, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_the_story_is_told_in_virtual_seconds_and_in_order() -> None:
    lines = [line for line in evac(*S1).stdout.splitlines() if re.match(r" +[+-]\d", line)]
    moments = [float(line.split("s ", 1)[0]) for line in lines]
    assert moments == sorted(moments)
    verbs = [line[10:19].strip() for line in lines]
    assert verbs[:3] == ["noticed", "cordoned", "held"]
    assert {"evicted", "deleted", "gone"} <= set(verbs)
    assert verbs[-1] == "ended"


def test_every_pod_is_named_in_the_story_and_in_the_table() -> None:
    story, table = evac(*S1).stdout.split("\npod ", 1)
    rows = re.findall(r"^(\S+/\S+) +(evicted|deleted)", table, re.MULTILINE)
    assert len(rows) == 33
    for name, _ in rows:
        assert name.rpartition("-")[2] in story


def test_what_held_the_pods_is_told_with_its_numbers() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert "29 pods by its budget: shop/checkout needs 39 of 40 healthy" in flowing


def test_kinds_that_were_not_in_the_files_are_not_called_empty() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert "not in the files, so not checked: StatefulSet, Job" in flowing


def test_malformed_events_are_shown_with_their_place_and_counted() -> None:
    flowing = " ".join(evac(*MIXED).stdout.split())
    assert "events.jsonl:7: detail.instance-id" in flowing
    assert "8 events: 4 interruptions, 2 ignored, 2 malformed" in flowing
    assert "i-0dd44ee55ff667788: no node of this cluster: not ours" in flowing


def test_the_last_line_says_how_it_ended() -> None:
    assert evac(*S1).stdout.rstrip().splitlines()[-1].startswith("33 pods: all left gracefully")


def test_names_alike_are_folded_and_none_is_left_out() -> None:
    names = [f"web/front-5c6d-{end}" for end in ("a1", "b2", "c3")] + ["db/pg-0", "db/pg-1", "web/alone"]
    assert " ".join(folded(names)) == "db/pg-0 db/pg-1 web/alone web/front-5c6d-{a1, b2, c3}"


def test_nothing_from_a_file_reaches_the_terminal_as_a_control_code() -> None:
    assert clean("a\x1b[31mred\x07\n\tb\u202e\ud800") == "a?[31mred?  b??"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (list("abcdefg"), "a, b, c, d and 3 more"),
    ],
)
def test_lists_read_as_sentences(words: list[str], text: str) -> None:
    assert enumerated(words) == text
