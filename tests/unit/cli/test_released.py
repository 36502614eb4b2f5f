"""What is said of releases at the end: whose pods were replaced first, and of the others why not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from evac.rendering.released import release_sentences
from evac.replay.outcome import Mode, Replay
from lambdas.domain.values.drains import Departure, DrainRecord, Ending, PodFate
from lambdas.domain.values.kubernetes import PodRef
from lambdas.domain.values.notices import Notice, Reason
from lambdas.domain.values.settings import Settings
from tests.scenes import NOTICE, at, deployment, node, times
from tests.unit.cli.typing_it import evac, manifests

WEB, API = "Deployment shop/web", "Deployment shop/api"


def pod(name: str, workload: str = WEB, **of: Any) -> PodFate:
    fate = PodFate(
        PodRef("shop", name, name), Departure.EVICTED, signalled_at=at(11), gone_at=at(13), workload=workload
    )
    return replace(fate, last_safe_at=at(85), **of)


def released(name: str, seconds: float = 0, workload: str = WEB) -> PodFate:
    return pod(name, workload, released_at=at(seconds), replaced_at=at(seconds + 10))


def said(*pods: PodFate, mode: Mode = Mode.SIMULATED, unknown: tuple[str, ...] = ()) -> list[str]:
    record = DrainRecord(Notice("i-1", Reason.SPOT_INTERRUPTION, NOTICE, at(120)), Ending.DRAINED, "spot-a", pods=pods)
    replay = Replay(mode, NOTICE, Settings(), None, None, (), [record], (), {}, unknown_kinds=unknown)
    return list(release_sentences(replay))


def test_nothing_is_said_where_there_was_no_question_of_it() -> None:
    assert said(pod("a"), pod("b", "StatefulSet shop/db"), unknown=("Job",)) == []


def test_one_workload_is_named_with_its_waves() -> None:
    assert said(released("a"), released("b", 0.2), released("c", 10)) == [
        "3 pods of Deployment shop/web released in 2 waves, each replaced before it went"
    ]


def test_several_workloads_are_told_the_largest_first() -> None:
    assert said(released("a", workload=API), released("b"), released("c")) == [
        "3 pods released, each replaced before it went: 2 of Deployment shop/web and 1 of Deployment shop/api"
    ]


def test_a_release_that_came_too_late_is_not_called_a_replacement() -> None:
    assert said(pod("a", released_at=at(0))) == [
        "1 pod released, but gone before a replacement was Ready: 1 of Deployment shop/web"
    ]


def test_each_reason_is_told_once_with_its_workloads() -> None:
    quota = "ResourceQuota shop/q has no room for its replacement (pods)"
    off = "release is switched off"
    found = said(pod("a", not_released=quota), pod("b", API, not_released=off), pod("c", not_released=off))
    assert found == [
        f"not released: 1 pod of {WEB}: {quota}",
        f"not released: 2 pods of {API} and {WEB}: {off}",
    ]


def test_a_pod_whose_turn_did_not_come_is_told_as_such() -> None:
    late: dict[str, Any] = {"signalled_at": at(85)}
    *_, one = said(released("a"), pod("b", **late))
    assert one == f"not released: 1 pod of {WEB}: its turn did not come before its last safe moment"
    *_, two = said(released("a"), pod("b", **late), pod("c", **late))
    assert two == f"not released: 2 pods of {WEB}: their turn did not come before their last safe moment"
    assert len(said(released("a"), pod("went-early"))) == 1


def test_only_a_replay_on_files_is_optimistic_about_kinds_that_it_does_not_know() -> None:
    optimistic = "pods were released as if there were none of the unknown kinds; some of them may forbid it"
    assert said(released("a"), unknown=("ResourceQuota",))[-1] == optimistic
    assert optimistic not in said(released("a"), unknown=("StatefulSet",))
    assert optimistic not in said(released("a"), unknown=("ResourceQuota",), mode=Mode.DRY_RUN)


def test_where_replacements_come_too_late_every_pod_is_accounted_for(tmp_path: Path) -> None:
    web = deployment("web", {"spot-a": 4}, surge=1, annotations=times(70, 2))
    cluster = manifests(tmp_path, [node("spot-a"), node("other"), *web])
    flowing = " ".join(evac("replay", "--node", "spot-a", "--cluster", cluster, "--release", "within").stdout.split())
    assert "1 pod of Deployment default/web released, each replaced before it went" in flowing
    assert "1 pod released, but gone before a replacement was Ready: 1 of Deployment default/web" in flowing
    assert "2 pods of Deployment default/web: their turn did not come before their last safe moment" in flowing
