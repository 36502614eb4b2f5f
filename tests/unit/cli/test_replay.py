"""What the options of a replay do."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evac.rendering.lines import Pace
from tests.scenes import NOTICE, Json, at, bare, budget, deployment, node, spot_notice, stateful_set, times
from tests.unit.cli.typing_it import NOT_RELEASED, S1, evac, events, manifests, told


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Four pods of a Deployment behind maxUnavailable 1, and room elsewhere."""
    plain = {k: v for k, v in times().items() if "ready" in k}
    web = deployment("web", {"spot-a": 4}, annotations={**plain, "note": "x"})
    return manifests(tmp_path, [node("spot-a"), node("other"), *web, budget("web", {"app": "web"}, maxUnavailable=1)])


def document(*words: str) -> dict[str, Any]:
    return told(evac("replay", *words, "--output", "json"))


def signalled(found: dict[str, Any]) -> list[float]:
    return sorted(round(pod["signalled_at_s"]) for drain in found["drains"] for pod in drain["pods"])


def test_node_makes_the_notice_itself_of_one_node_or_of_several(small: str) -> None:
    found = document("--node", "spot-a", "--node", "other", "--cluster", small)
    assert {drain["node"]: drain["reclaim_at_s"] for drain in found["drains"]} == {"spot-a": 120, "other": 120}
    assert found["events"]["each"][0]["place"] == "--node spot-a"


def test_a_node_without_a_provider_id_can_be_named_too(tmp_path: Path) -> None:
    kind = node("kind-worker")
    del kind["spec"]["providerID"]
    found = document("--node", "kind-worker", "--cluster", manifests(tmp_path, [kind, bare("p", "kind-worker")]))
    assert found["totals"]["graceful"] == 1


def test_start_up_and_shutdown_come_from_the_flags(small: str) -> None:
    slow = signalled(document("--node", "spot-a", "--cluster", small, "--startup", "20s", *NOT_RELEASED))
    quick = signalled(document("--node", "spot-a", "--cluster", small, "--startup", "2s", *NOT_RELEASED))
    assert slow == [0, 20, 40, 60]
    assert quick == pytest.approx([0, 2, 4, 6], abs=1)
    gone = document("--node", "spot-a", "--cluster", small, "--shutdown", "7s")["drains"][0]["pods"]
    assert all(pod["gone_at_s"] - pod["signalled_at_s"] == pytest.approx(7, abs=0.5) for pod in gone)


def test_a_released_pod_goes_a_start_up_after_its_release(small: str) -> None:
    slow = document("--node", "spot-a", "--cluster", small, "--startup", "20s")
    quick = document("--node", "spot-a", "--cluster", small, "--startup", "2s")
    assert signalled(slow) == [20, 40, 60, 80]
    assert signalled(quick) == [2, 4, 6, 8]
    assert all(w["fewest_ready"] == w["wanted"] for found in (slow, quick) for w in found["workloads"])


@pytest.mark.parametrize(
    ("mode", "waves"),
    [("within", [0, 20, 40, 60]), ("enough", [0, 20, 40, 60]), ("all", [0, 0, 0, 0]), ("off", [])],
)
def test_release_sets_how_many_go_at_a_time(small: str, mode: str, waves: list[int]) -> None:
    found = document("--node", "spot-a", "--cluster", small, "--startup", "20s", "--release", mode)
    released = [pod["released_at_s"] for pod in found["drains"][0]["pods"] if pod["released_at_s"] is not None]
    assert sorted(map(round, released)) == waves


def test_a_pods_own_annotation_beats_the_flag(tmp_path: Path) -> None:
    pods = [bare("slow", "spot-a", annotations=times(1, 9)), bare("plain", "spot-a", annotations={"a": "b"})]
    found = document("--node", "spot-a", "--cluster", manifests(tmp_path, [node("spot-a"), *pods]), "--shutdown", "3s")
    gone = {pod["name"]: round(pod["gone_at_s"]) for pod in found["drains"][0]["pods"]}
    assert gone == {"slow": 9, "plain": 3}


def test_margin_moves_the_last_safe_moment(small: str) -> None:
    for margin, moment in (("5s", 85), ("20s", 70)):
        given = ("--node", "spot-a", "--cluster", small, "--startup", "10m", "--margin", margin)
        assert signalled(document(*given, *NOT_RELEASED)) == [0, moment, moment, moment]
        assert signalled(document(*given)) == [moment] * 4


def test_a_pod_that_needs_longer_than_its_grace_is_told_as_cut_short(tmp_path: Path) -> None:
    slow = bare("slow", "spot-a", grace=10, annotations=times(1, 60))
    cluster = manifests(tmp_path, [node("spot-a"), slow])
    found = document("--node", "spot-a", "--cluster", cluster)
    assert (found["totals"]["cut_short"], found["drains"][0]["pods"][0]["cut_short"]) == (1, True)
    assert "SIGKILL" in evac("replay", "--node", "spot-a", "--cluster", cluster).stdout


def test_events_and_manifests_come_through_standard_input_as_well(small: str, tmp_path: Path) -> None:
    by_event = evac("replay", "-", "--cluster", small, stdin=json.dumps(spot_notice("spot-a")))
    assert by_event.exit_code == 0
    by_cluster = evac(
        "replay", events(tmp_path, [spot_notice("spot-a")]), "--cluster", "-", stdin=Path(small).read_text()
    )
    assert by_cluster.stdout == by_event.stdout


def test_the_first_notice_is_now_and_the_others_keep_their_distance(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [node(f"spot-{n}") for n in "abc"] + [bare("p", "spot-c")])
    bodies = [spot_notice("spot-b", seconds=30), spot_notice("spot-a"), spot_notice("spot-c", seconds=3600)]
    found = document(events(tmp_path, bodies), "--cluster", cluster)
    assert sorted(drain["noticed_at_s"] for drain in found["drains"]) == [0, 30, 3600]
    assert signalled(found) == [3600]


def test_kept_times_are_judged_against_the_snapshots_own_moment(tmp_path: Path) -> None:
    taken = node("spot-a")
    taken["status"]["conditions"][0]["lastHeartbeatTime"] = at(40).strftime("%Y-%m-%dT%H:%M:%SZ")
    cluster = manifests(tmp_path, [taken, bare("p", "spot-a")])
    notice = events(tmp_path, [spot_notice("spot-a")])
    assert signalled(document(notice, "--cluster", cluster)) == [0]
    kept = document(notice, "--cluster", cluster, "--keep-times")
    assert kept["zero"] == NOTICE.isoformat()
    assert signalled(kept) == [40]
    assert kept["drains"][0]["reclaim_at_s"] == 120


def test_an_old_backlog_is_stale_when_its_times_are_kept(tmp_path: Path) -> None:
    taken = node("spot-a")
    taken["status"]["conditions"][0]["lastHeartbeatTime"] = (NOTICE + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    cluster = manifests(tmp_path, [taken, bare("p", "spot-a")])
    result = evac("replay", events(tmp_path, [spot_notice("spot-a")]), "--cluster", cluster, "--keep-times")
    assert result.exit_code == 1
    assert "stale" in result.stdout
    assert "cordoned" not in result.stdout


@pytest.mark.parametrize("flags", [(), ("--keep-times",)])
def test_events_that_would_be_waited_for_for_weeks_are_refused(tmp_path: Path, flags: tuple[str, ...]) -> None:
    bodies = [spot_notice("spot-a"), spot_notice("spot-a", seconds=90 * 86400)]
    result = evac("replay", events(tmp_path, bodies), "--cluster", manifests(tmp_path, [node("spot-a")]), *flags)
    assert (result.exit_code, "events.json[1]" in result.stderr) == (2, True)


def test_a_hibernation_is_late_and_still_signals_every_pod(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [node("spot-a"), bare("p", "spot-a", annotations=times(1, 1))])
    found = document(events(tmp_path, [spot_notice("spot-a", action="hibernate")]), "--cluster", cluster)
    [drain] = found["drains"]
    assert drain["is_late"] is True
    assert drain["pods"][0]["signalled_at_s"] < 1


def test_pods_that_die_with_their_host_are_counted_by_what_truly_happened(tmp_path: Path) -> None:
    stuck = bare("stuck", "spot-a", grace=600, annotations=times(1, 500))
    result = evac("replay", "--node", "spot-a", "--cluster", manifests(tmp_path, [node("spot-a"), stuck]))
    lines = result.stdout.splitlines()
    assert result.exit_code in {0, 1}
    assert ("LOST" in lines[-1]) == (result.exit_code == 1)


def test_a_pod_that_shares_its_name_with_its_successor_is_told_by_its_uid(tmp_path: Path) -> None:
    objects: list[Json] = [node("spot-a"), node("other"), *stateful_set("db", ["spot-a"])]
    found = document("--node", "spot-a", "--cluster", manifests(tmp_path, objects))
    assert [pod["name"] for pod in found["drains"][0]["pods"]] == ["db-0"]
    assert found["workloads"][0] | {"fewest_ready_at_s": 0} == {
        "kind": "StatefulSet",
        "name": "default/db",
        "wanted": 1,
        "ready_before": 1,
        "fewest_ready": 0,
        "fewest_ready_at_s": 0,
    }


def test_owners_that_are_not_in_the_files_are_told_as_not_replacing_their_pods(tmp_path: Path) -> None:
    pods = [o for o in deployment("web", {"spot-a": 2}) if o["kind"] == "Pod"]
    found = document("--node", "spot-a", "--cluster", manifests(tmp_path, [node("spot-a"), *pods]))
    assert any("not replaced" in note for note in found["cluster"]["notes"])


def test_watching_sleeps_virtual_time_over_the_speed() -> None:
    slept: list[float] = []
    pace = Pace(NOTICE, 10, slept.append)
    for seconds in (0, 5, 5, 25, 20):
        pace.until(at(seconds))
    assert slept == [0.5, 2.0]


def test_a_speed_changes_nothing_of_what_is_told() -> None:
    assert evac(*S1, "--speed", "1000000").stdout == evac(*S1).stdout
