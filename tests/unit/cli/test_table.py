"""What a person reads: 80 columns, no terminal needed, the sum last."""

import re

import pytest

from evac.rendering.words import clean, enumerated, folded, offset
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
    assert verbs[verbs.index("ended") + 1 :] == ["ready"] * verbs[verbs.index("ended") + 1 :].count("ready")


def test_every_pod_is_named_in_the_story_and_in_the_table() -> None:
    story, table = evac(*S1).stdout.split("\npod ", 1)
    rows = re.findall(r"^(\S+/\S+) +(evicted|deleted)", table, re.MULTILINE)
    assert len(rows) == 33
    for name, _ in rows:
        assert name.rpartition("-")[2] in story


def test_no_line_ends_in_blanks() -> None:
    for output in (evac(*S1).stdout, evac(*MIXED).stdout, evac(*S1, FORCE_COLOR="1").stdout):
        assert not re.search(r" (\x1b\[0m)?$", output, re.MULTILINE)


def test_what_held_the_pods_is_told_with_its_numbers() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert "29 pods by its budget: shop/checkout (maxUnavailable 1) needs 39 of 40 healthy" in flowing


def test_kinds_that_were_not_in_the_files_are_not_called_empty() -> None:
    flowing = " ".join(evac(*MIXED).stdout.split())
    assert "not in the files (if there are any, print them too), so unknown: StatefulSet, Job" in flowing


def test_the_sample_leaves_no_kind_unknown() -> None:
    assert "unknown" not in evac(*S1).stdout


def test_malformed_events_are_shown_with_their_place_and_counted() -> None:
    flowing = " ".join(evac(*MIXED).stdout.split())
    assert "events.jsonl:7: detail.instance-id" in flowing
    assert "8 events: 4 interruptions, 2 ignored, 2 malformed" in flowing
    assert "i-0dd44ee55ff667788: no node of this cluster: not ours" in flowing


def test_events_that_are_not_acted_on_say_why_and_a_repeated_notice_is_told() -> None:
    flowing = " ".join(evac(*MIXED).stdout.split())
    assert 'events.jsonl:5: instance state "running": nothing to act on' in flowing
    assert "events.jsonl:4: another notice of i-0bb22cc33dd44ee55: drained once" in flowing
    s1 = " ".join(evac(*S1).stdout.split())
    assert "rebalance recommendation for i-0a1b2c3d4e5f60718: a risk, no notice; not acted on" in s1


def test_the_last_lines_say_how_it_ended_and_what_it_cost() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert re.search(
        r"33 pods: all left before their host went, the last at \S+, \d+ s before reclaim; "
        r"PDB shop/checkout was exceeded: \d+ of 39 Ready at worst \(\+\d+\.\ds\)$",
        flowing,
    )
    assert evac(*MIXED).stdout.rstrip().splitlines()[-1].startswith("8 pods: all left gracefully")


def test_pods_that_went_early_are_told_from_those_that_went_at_the_end() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    early = re.search(r"(\d+) pods held by PDB shop/checkout went early, deleted a few at a time", flowing)
    late = re.search(r"(\d+) pods held by PDB shop/checkout to the last safe moment, then deleted", flowing)
    assert early
    assert late
    assert int(early[1]) + int(late[1]) == len(re.findall(r" deleted +\+\S+ +30s", evac(*S1).stdout))


def test_endings_are_told_in_words() -> None:
    story = " ".join(evac(*MIXED).stdout.split("\nip-")[0].split())
    assert "i-0dd44ee55ff667788 no node of this cluster: not ours" in story
    assert "not_ours" not in story


def test_replacements_are_told_when_they_become_ready() -> None:
    story = evac(*S1).stdout.split("\nip-")[0]
    ready = re.findall(r"\+(\S+)s  ready     (\S+) ", story)
    evicted = [float(at) for at in re.findall(r"\+(\S+)s  evicted   shop/checkout", story)]
    assert len(ready) > 5
    assert all(min(abs(at - float(since)) for since, _ in ready) < 0.3 for at in evicted)


def test_quiet_shows_the_summary_only() -> None:
    told, quiet = evac(*S1).stdout, evac(*S1, "--quiet").stdout
    assert quiet
    assert told.endswith(quiet)
    assert not re.search(r"^ +\+\S+  (evicted|gone|ready) ", quiet, re.MULTILINE)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (-0.04, "+0.0s"), (85, "+85.0s"), (3599, "+3599.0s"), (3630.4, "+1h00m30s"), (-90000, "-25h00m00s")],
)
def test_moments_are_seconds_and_from_an_hour_on_hours(seconds: float | None, text: str) -> None:
    assert offset(seconds) == text


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
