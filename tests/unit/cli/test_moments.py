"""What happens at about one moment is put together: nothing is lost but holds that were over at once."""

from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evac.rendering.lines import LiveLines
from evac.rendering.moments import belongs_to, grouped
from evac.rendering.released import count_waves
from evac.rendering.words import of_several
from evac.replay.story import Line
from tests.scenes import NOTICE, at

WAITS = "waits for its replacement"


def line(what: str, pod: str, seconds: float = 0, detail: str = "", node: str = "spot-a") -> Line:
    return Line(at(seconds), what, node, f"web/{pod}", detail)


def said(*lines: Line) -> list[tuple[str, str]]:
    """Each group: what, and of which pods."""
    names = [(group[0].what, " ".join(each.subject.removeprefix("web/") for each in group)) for group in grouped(lines)]
    return [(f"{what}", pods) for what, pods in names]


def printed(*lines: Line, groups: bool = True) -> list[str]:
    console = Console(width=120, no_color=True, highlight=False)
    live = LiveLines(console, NOTICE, groups=groups)
    with console.capture() as captured:
        for each in lines:
            live.tell(each)
        live.flush()
    return [" ".join(text.split()) for text in captured.get().splitlines()]


def test_answers_that_come_one_by_one_are_told_by_what_was_answered() -> None:
    one_by_one = [line(what, pod) for pod in "abc" for what in ("replaced", "evicted")]
    assert said(*one_by_one) == [("replaced", "a b c"), ("evicted", "a b c")]


def test_a_pods_own_order_is_kept_where_its_like_came_earlier() -> None:
    assert said(line("gone", "a"), line("evicted", "b"), line("gone", "b")) == [
        ("gone", "a"),
        ("evicted", "b"),
        ("gone", "b"),
    ]


def test_what_is_said_differently_or_elsewhere_is_another_line() -> None:
    lines = line("evicted", "a"), line("evicted", "b", detail="grace 1 s"), line("evicted", "c", node="spot-b")
    assert len(grouped(lines)) == 3


def test_replacements_are_one_line_on_whatever_nodes_they_are() -> None:
    [group] = grouped(
        [line("ready", "a", detail="new, on x", node="x"), line("ready", "b", detail="new, on y", node="y")]
    )
    assert len(group) == 2
    ready = [line("ready", pod, detail=f"new, on {node}", node=node) for pod, node in zip("abc", "xyx", strict=True)]
    assert printed(*ready)[0] == "+0.0s ready 3 pods new, on x and y"


def test_a_moment_ends() -> None:
    assert belongs_to(line("gone", "a", 1), line("gone", "b", 1.5))
    assert not belongs_to(line("gone", "a", 1), line("gone", "b", 1.51))


def test_a_hold_that_is_over_at_once_is_not_told_and_one_that_lasts_is() -> None:
    assert said(line("held", "a"), line("held", "b"), line("released", "a")) == [("held", "b"), ("released", "a")]
    assert said(line("held", "a", detail="by x"), line("held", "a", detail="by y")) == [("held", "a")]


def test_that_a_released_pod_waits_for_its_replacement_goes_without_saying() -> None:
    story = line("released", "a"), line("held", "a", 3, WAITS), line("held", "b", 3, WAITS)
    for groups in (True, False):
        assert printed(*story, groups=groups) == ["+0.0s released web/a", f"+3.0s held web/b {WAITS}"]


def test_holds_are_told_after_what_was_done_at_the_same_moment() -> None:
    assert printed(line("held", "a", 0.01, "by x"), line("evicted", "b", 0.02), line("evicted", "c", 0.3)) == [
        "+0.0s evicted 2 pods within 0.3 s",
        "web/b web/c",
        "+0.0s held web/a by x",
    ]


_LINES = st.builds(
    line,
    st.sampled_from(["held", "released", "evicted", "gone", "ready", "problem"]),
    st.sampled_from("abcd"),
    detail=st.sampled_from(["", "x"]),
    node=st.sampled_from(["spot-a", "spot-b"]),
)


@given(st.lists(_LINES, max_size=14))
def test_nothing_else_is_left_out_told_twice_or_told_out_of_its_pods_order(lines: list[Line]) -> None:
    told = [each for group in grouped(lines) for each in group]
    assert not Counter(told) - Counter(lines)
    assert all(each.what == "held" for each in Counter(lines) - Counter(told))
    for who in {(each.node_name, each.subject) for each in lines}:
        own = [each for each in lines if (each.node_name, each.subject) == who and each.what != "held"]
        assert [each for each in told if (each.node_name, each.subject) == who and each.what != "held"] == own


def test_a_wave_ends_where_nothing_is_released_for_a_second() -> None:
    assert count_waves([]) == 0
    assert count_waves(at(seconds) for seconds in (0, 10.1, 0.9, 1.8, 10)) == 2
    assert count_waves(NOTICE + timedelta(seconds=2) * i for i in range(3)) == 3


def test_what_is_said_of_one_is_said_of_several() -> None:
    assert of_several(WAITS) == "wait for their replacements"
    assert of_several("held by its budget: web (maxUnavailable 1)") == "held by their budget: web (maxUnavailable 1)"
