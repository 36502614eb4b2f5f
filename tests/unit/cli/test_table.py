"""What a person reads: 80 columns, no terminal needed, the sum last."""

import re

import pytest

from evac.rendering.words import clean, enumerated, folded, offset
from tests.unit.cli.typing_it import EXAMPLES, NOT_RELEASED, S1, evac

MIXED = ("replay", str(EXAMPLES / "mixed" / "events.jsonl"), "--cluster", str(EXAMPLES / "mixed"))


@pytest.fixture(scope="module")
def paced() -> str:
    return evac(*S1, *NOT_RELEASED).stdout


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
    assert verbs[:2] == ["noticed", "cordoned"]
    assert {"released", "held", "ready", "replaced", "evicted", "gone"} <= set(verbs)
    assert "deleted" not in verbs
    assert verbs[verbs.index("ended") + 1 :] == ["ready"] * verbs[verbs.index("ended") + 1 :].count("ready")


def test_without_releases_the_story_tells_deletions(paced: str) -> None:
    lines = [line for line in paced.splitlines() if re.match(r" +[+-]\d", line)]
    moments = [float(line.split("s ", 1)[0]) for line in lines]
    assert moments == sorted(moments)
    verbs = [line[10:19].strip() for line in lines]
    assert {"held", "evicted", "deleted", "gone"} <= set(verbs)
    assert not {"released", "replaced"} & set(verbs)


def test_every_pod_is_named_in_the_story_and_in_the_table() -> None:
    for output in (evac(*S1).stdout, evac(*S1, *NOT_RELEASED).stdout):
        story, table = output.split("\npod ", 1)
        rows = re.findall(r"^(\S+/\S+) +(evicted|deleted)", table, re.MULTILINE)
        assert len(rows) == 33
        for name, _ in rows:
            assert name.rpartition("-")[2] in story


def test_no_line_ends_in_blanks() -> None:
    for output in (evac(*S1).stdout, evac(*MIXED).stdout, evac(*S1, FORCE_COLOR="1").stdout):
        assert not re.search(r" (\x1b\[0m)?$", output, re.MULTILINE)


def test_what_held_the_pods_is_told_with_its_numbers(paced: str) -> None:
    flowing = " ".join(paced.split())
    assert "29 pods by their budget: shop/checkout (maxUnavailable 1) needs 39 of 40 healthy" in flowing


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


def test_the_last_lines_say_how_it_ended_and_that_it_cost_nothing() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert re.search(
        r"33 pods: all left gracefully, the last at \+3\d\.\ds, 8\d s before reclaim; "
        r"no workload was short of a replica$",
        flowing,
    )
    assert "exceeded" not in flowing
    assert evac(*MIXED).stdout.rstrip().splitlines()[-2].startswith("8 pods: all left gracefully")


def test_without_releases_the_last_lines_say_what_it_cost(paced: str) -> None:
    flowing = " ".join(paced.split())
    assert re.search(
        r"33 pods: all left before their host went, the last at \S+, \d+ s before reclaim; "
        r"PDB shop/checkout was exceeded: \d+ of 39 Ready at worst \(\+\d+\.\ds\)$",
        flowing,
    )
    assert "short of a replica" not in flowing


def test_what_was_released_is_told_by_workload_and_wave() -> None:
    flowing = " ".join(evac(*S1).stdout.split())
    assert (
        "33 pods released, each replaced before it went: 30 of Deployment shop/checkout in 3 waves, "
        "2 of Deployment shop/search in 2 waves and 1 of Deployment kube-system/coredns 33 pods: all left" in flowing
    )


def test_why_pods_were_not_released_is_told_once_for_each_reason(paced: str) -> None:
    flowing = " ".join(paced.split())
    where = "Deployment kube-system/coredns, Deployment shop/checkout and Deployment shop/search"
    assert f"not released: 33 pods of {where}: release is switched off" in flowing
    assert flowing.count("not released") == 1


def test_pods_that_went_early_are_told_from_those_that_went_at_the_end(paced: str) -> None:
    flowing = " ".join(paced.split())
    early = re.search(r"(\d+) pods held by PDB shop/checkout went early, deleted a few at a time", flowing)
    late = re.search(r"(\d+) pods held by PDB shop/checkout to the last safe moment, then deleted", flowing)
    assert early
    assert late
    assert int(early[1]) + int(late[1]) == len(re.findall(r" deleted +\+\S+ +30s", paced))


def test_endings_are_told_in_words() -> None:
    story = " ".join(evac(*MIXED).stdout.split("\nip-")[0].split())
    assert "i-0dd44ee55ff667788 no node of this cluster: not ours" in story
    assert "not_ours" not in story


def test_replacements_are_told_when_they_become_ready(paced: str) -> None:
    for output, lines in ((evac(*S1).stdout, 3), (paced, 8)):
        story = output.split("\nip-")[0]
        ready = [float(at) for at in re.findall(r"\+(\S+)s  ready     ", story)]
        evicted = [float(at) for at in re.findall(r"\+(\S+)s  evicted   (?:\d+ pods|shop/checkout)", story)]
        assert len(ready) >= lines
        later = [at for at in evicted if at > 1]
        assert len(later) >= lines
        assert all(min(abs(at - since) for since in ready) < 0.3 for at in later)


def test_a_wave_is_a_line_and_not_one_for_each_pod() -> None:
    story = evac(*S1, columns=200).stdout.split("\nip-")[0]
    for verb in ("released", "replaced", "evicted"):
        told = re.findall(rf"^ +\+(\d+)\.\ds  {verb} +(\d+) pods", story, re.MULTILINE)
        assert [int(count) >= 10 for _, count in told] == [True] * 3, verb
    assert len(story.splitlines()) < 70


def test_a_hold_that_a_release_follows_at_once_is_not_told() -> None:
    story = evac(*S1, columns=200).stdout.split("\nip-")[0]
    held = re.findall(r"^ +\+(\S+)s  held +(.*)$", story, re.MULTILINE)
    critical = "kube-system/coredns-5d78c9869d-hj5f6  goes when no other pod is on its way out: system-cluster-critical"
    assert held == [("0.0", "21 pods  wait for their replacements"), ("10.0", critical)]


def test_a_budget_that_opens_at_once_is_not_said_to_have_held_a_replaced_pod() -> None:
    folder = str(EXAMPLES / "budgets")
    output = evac("replay", folder, "--cluster", folder, columns=120).stdout
    row = re.search(r"^stream/licence-\S+ .*$", output, re.MULTILINE)
    assert row
    assert row[0].endswith("+12.1s")
    assert re.search(r"^stream/ledger-0 .* ledger$", output, re.MULTILINE)


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
