"""The page: whole, offline, and nobody's markup but ours."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evac.errors import InputError
from evac.replay.story import Line
from evac.report.page import check, page, write
from evac.report.told import Told
from lambdas.domain.values.courses import BudgetStory, Level, Span, WorkloadStory
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate, Problem, Trouble
from lambdas.domain.values.kubernetes import BudgetRef, PodRef
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason
from tests.unit.builders import NOTICE, at
from tests.unit.report.reading import Element, read

WEB = BudgetRef("shop", "web")
SPOT = Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120))


def fate(name: str, departure: Departure = Departure.EVICTED, **fields: Any) -> PodFate:
    fields.setdefault("workload", "Deployment shop/web")
    fields.setdefault("last_safe_at", at(85))
    return PodFate(PodRef("shop", name, f"uid-{name}"), departure, **fields)


def left(name: str, signalled: float = 10, gone: float = 12, **fields: Any) -> PodFate:
    return fate(name, signalled_at=at(signalled), gone_at=at(gone), grace_given=timedelta(seconds=30), **fields)


def record(*pods: PodFate, **fields: Any) -> DrainRecord:
    made = DrainRecord(
        SPOT, Ending.DRAINED, "spot-a", started_at=at(0), ended_at=at(60), cordoned_at=at(0.1), pods=pods
    )
    return replace(made, **fields)


def told(*records: DrainRecord, **fields: Any) -> Told:
    return Told(zero=NOTICE, records=records, **fields)


def shown(*records: DrainRecord, **fields: Any) -> Element:
    return read(page(told(*records, **fields)))


def headline(element: Element) -> str:
    [found] = element.all("h1")
    return found.text


def titles(element: Element) -> list[str]:
    return [title.text for title in element.all("title")]


def course(*levels: tuple[float, int]) -> tuple[Level, ...]:
    return tuple(Level(at(second), ready, 40) for second, ready in levels)


def test_all_that_left_are_said_in_one_sentence_with_what_it_cost() -> None:
    web = WorkloadStory("Deployment", "shop", "web", 40, 40, at(0), curve=course((0, 40)))
    element = shown(record(left("a"), left("b", gone=36), workloads=(web,)))
    assert (
        headline(element)
        == "All 2 pods of spot-a left, the last 84 s before reclaim; no workload was short of a replica."
    )


def test_lost_pods_come_first_with_their_reason_and_stand_open() -> None:
    lost = fate("web-9", Departure.LOST, note="held by its budget: shop/web", held_by=(WEB,))
    element = shown(record(left("web-1"), lost, ending=Ending.PODS_LOST))
    assert headline(element).startswith("1 of 2 pods of spot-a died with the host, 1 left in time")
    [first, *_] = element.all("li")
    assert (first.attributes["class"], first.text) == (
        "bad",
        "1 pod died with the host: held by its budget: shop/webshop/web-9",
    )
    [group] = element.all("details", "group")
    assert "open" in group.attributes
    assert "lost with the host +120.0s: held by its budget: shop/web" in titles(group)


def test_a_bar_tells_when_a_pod_waited_was_released_replaced_and_shut_down() -> None:
    pod = left("web-1", 21, 23, released_at=at(10), replaced_at=at(20.5))
    held = Line(at(1), "held", "spot-a", "shop/web-1", "held by its budget: shop/web needs 39")
    element = shown(record(pod), lines=[held])
    [row] = element.all("div", "pod")
    assert [(rect.attributes["class"], *titles(rect)) for rect in row.all("rect")] == [
        ("waiting", "waiting: +0.0s to +1.0s (1.0 s)"),
        ("held", "held by its budget: +1.0s to +10.0s (9.0 s)\nheld by its budget: shop/web needs 39"),
        ("released", "released, waits for its replacement: +10.0s to +20.5s (10.5 s)"),
        ("replaced", "replaced, about to leave: +20.5s to +21.0s (0.5 s)"),
        ("stopping", "shutting down: +21.0s to +23.0s (2.0 s)\nevicted; grace 30 s"),
        ("safe-tick", "last safe moment for its SIGTERM: +85.0s"),
    ]


def test_the_axis_is_the_two_minutes_with_cordon_last_safe_moment_and_reclaim() -> None:
    element = shown(record(left("a")))
    assert [name.text for name in element.all("span", "name")] == [
        "cordoned +0.1s",
        "last safe moment +85.0s",
        "reclaim +120.0s",
    ]
    places = [float(line.attributes["style"].removeprefix("left:").rstrip("%")) for line in element.all("i", "reclaim")]
    assert len(places) == 1
    assert 90 < places[0] < 100


def test_replicas_over_time_are_a_step_line_and_what_is_missing_is_filled_and_titled() -> None:
    curve = course((0, 40), (10, 36), (20, 40))
    web = WorkloadStory("Deployment", "shop", "web", 40, 36, at(10), curve=curve)
    element = shown(record(left("a"), workloads=(web,)))
    assert "from +10.0s: 36 of 40 Ready" in titles(element)
    assert len(list(element.all("rect", "missing"))) == 1
    [line] = element.all("polyline", "ready")
    assert len(line.attributes["points"].split()) == 6
    assert "Deployment shop/web was down to 36 of 40 Ready" in headline(element)


def test_a_budget_shows_when_it_held_and_by_how_much_it_was_exceeded() -> None:
    curve = tuple(Level(at(second), healthy, 39) for second, healthy in ((0, 40), (30, 36), (60, 40)))
    story = BudgetStory(WEB, "maxUnavailable 1", (Span(at(0), at(30)),), 3, at(30), "30 pods left: 4 at a time", curve)
    against = left("a", departure=Departure.DELETED_AGAINST_BUDGET, held_by=(WEB,))
    element = shown(record(against, budgets=(story,)))
    [strip] = element.all("div", "budgets")
    assert "held 30 s, exceeded by 3" in strip.text
    assert "−3" in strip.text
    assert "36 of 39 healthy: +30.0s to +60.0s" in titles(strip)
    assert "PDB shop/web was exceeded by 3 at +30.0s (30 pods left: 4 at a time)shop/a" in [
        li.text for li in element.all("li")
    ]


def test_many_pods_are_folded_away_by_workload_but_not_the_lost() -> None:
    pods = [left(f"web-{i}", workload=f"Deployment shop/web-{i % 25}") for i in range(249)]
    lost = fate("gone", Departure.LOST, workload="Deployment shop/web-7")
    element = shown(record(*pods, lost, ending=Ending.PODS_LOST))
    groups = list(element.all("details", "group"))
    assert len(groups) == 25
    assert ["open" in group.attributes for group in groups] == [True, *[False] * 24]
    assert len(list(element.all("div", "pod"))) == 250


HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&\u202e\x00\x1b[31m"


def hostile(text: str) -> Told:
    pod = fate(text, Departure.LOST, note=text, not_released=text, workload=text, held_by=(BudgetRef(text, text),))
    made = record(
        pod,
        node_name=text or "n",
        notice=replace(SPOT, instance_id=text),
        skipped=((PodRef(text, text, text), text),),
        problems=(Problem(Trouble.API, text),),
        budgets=(BudgetStory(BudgetRef(text, text), text, arithmetic=text, exceeded_by=1, exceeded_at=at(1)),),
        workloads=(WorkloadStory(text, text, text, counted_by=text, curve=(Level(at(0), 1, 2),)),),
    )
    return told(made, notes=[text], lines=[Line(at(0), text, text or "n", f"{text}/{text}", text)])


@given(st.text(min_size=1, max_size=40) | st.just(HOSTILE))
def test_whatever_a_cluster_calls_things_no_element_and_no_attribute_comes_of_it(text: str) -> None:
    def shape(element: Element) -> list[Any]:
        return [element.name, sorted(element.attributes), [shape(child) for child in element.children]]

    assert shape(read(page(hostile(text)))) == shape(read(page(hostile("plain"))))


def test_no_control_code_reaches_the_page() -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", page(hostile(HOSTILE)))


def test_nothing_is_asked_of_any_network() -> None:
    text = page(hostile("x"))
    assert "://" not in text
    element = read(text)
    for name in ("link", "img", "iframe", "object", "embed", "base", "form", "a", "image", "use", "foreignobject"):
        assert not list(element.all(name)), name
    assert not [e for e in _everything(element) if {"src", "href", "xlink:href", "action"} & set(e.attributes)]
    assert "url(" not in text
    assert "@import" not in text
    [policy] = [m for m in element.all("meta") if m.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_only_our_own_script_may_run() -> None:
    import base64
    import hashlib

    element = read(page(hostile(HOSTILE)))
    [script] = element.all("script")
    hashed = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert any(f"'sha256-{hashed}'" in m.attributes.get("content", "") for m in element.all("meta"))
    assert not [key for e in _everything(element) for key in e.attributes if key.startswith("on")]


def _everything(element: Element) -> list[Element]:
    return [element, *(inner for child in element.children for inner in _everything(child))]


def test_a_drain_without_a_deadline_ends_its_axis_with_itself() -> None:
    notice = Notice("spot-a", Reason.MAINTENANCE, NOTICE, NO_DEADLINE)
    element = shown(record(left("a", last_safe_at=None), notice=notice))
    assert "reclaim" not in [name.text.split()[0] for name in element.all("span", "name")]
    assert headline(element) == "The one pod of spot-a left."


@pytest.mark.parametrize(
    "made",
    [
        DrainRecord(SPOT, Ending.NOT_OURS),
        DrainRecord(SPOT, Ending.FAILED, "spot-a"),
        record(),
        record(started_at=at(500), ended_at=at(504), notice=replace(SPOT, reclaim_at=NOTICE)),
        record(left("late", 130, 131)),
        record(fate("untouched", Departure.STAYED, last_safe_at=None), started_at=None, ended_at=None),
    ],
)
def test_whatever_became_of_it_there_is_a_page(made: DrainRecord) -> None:
    assert headline(shown(made))


def test_a_page_of_250_pods_is_of_a_size_that_mail_takes() -> None:
    pods = [left(f"web-5d4f8c7b9-{i:05}", released_at=at(1), replaced_at=at(9), held_by=(WEB,)) for i in range(250)]
    curve = tuple(Level(at(second / 10), 40 - second % 3, 40) for second in range(1200))
    web = WorkloadStory("Deployment", "shop", "web", 40, 38, at(0.2), curve=curve)
    assert len(page(told(record(*pods, workloads=(web,)))).encode()) < 2_000_000


def test_the_page_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "drain.html"
    check(path)
    write(path, told(record(left("a"))))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_that_is_not_there_is_said_before_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        check(tmp_path / "no" / "drain.html")
    assert not (tmp_path / "no").exists()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        check(tmp_path)


def test_a_disk_that_fails_after_all_is_said_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be written: Is a directory"):
        write(tmp_path, told(record(left("a"))))


def test_the_moment_of_the_page_is_the_notice_s() -> None:
    zero = datetime.fromisoformat("2026-11-02T03:04:05+00:00")
    assert "2026-11-02T03:04:05Z" in read(page(replace(told(record(left("a"))), zero=zero))).text
