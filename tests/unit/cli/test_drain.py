"""`evac drain` empties nodes for a person: no budget is exceeded without a deadline, and nobody's host is taken."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evac.cli.commands import app
from evac.errors import Interrupted
from evac.simulator import Simulation
from lambdas.contract import ANNOTATION_MARK, LABEL_DRAINING, TAINT_INTERRUPTED
from lambdas.domain.values.drains import Departure, Ending
from lambdas.domain.values.settings import BudgetMode, ReleaseMode, Settings
from tests.scenes import Json, at, bare, budget, deployment, job, node, stateful_set, times
from tests.unit.cli.draining import drained, shown
from tests.unit.cli.loopback import Api, served
from tests.unit.cli.typing_it import evac, told

WITHOUT_RELEASE = Settings(release=ReleaseMode.OFF, needs_guard=False)
NEVER = Settings(release=ReleaseMode.OFF, budgets=BudgetMode.NEVER, needs_guard=False)


def shop(replicas: int = 6, **spec: object) -> list[Json]:
    """Pods of one Deployment on spot-a behind a budget, and room elsewhere."""
    limits = spec or {"maxUnavailable": 1}
    return [
        node("spot-a"),
        node("other"),
        *deployment("web", {"spot-a": replicas, "other": 2}),
        budget("web", {"app": "web"}, **limits),
    ]


# --- without a deadline


@pytest.mark.parametrize("settings", [Settings(needs_guard=False), WITHOUT_RELEASE])
def test_without_a_deadline_every_pod_is_evicted_and_no_budget_exceeded(settings: Settings) -> None:
    done = drained(shop(30), settings=settings)
    assert {fate.departure for fate in done.replay.fates} == {Departure.EVICTED}
    assert (done.exceeded("web"), done.replay.exit_code) == (0, 0)
    assert [record.ending for record in done.replay.records] == [Ending.DRAINED]


def test_graces_are_never_clamped() -> None:
    done = drained([node("spot-a"), bare("slow", "spot-a", grace=7200, annotations=times(shutdown=3600))])
    [fate] = done.replay.fates
    assert fate.grace_given == timedelta(seconds=7200)
    assert fate.departure is Departure.EVICTED


def test_a_job_is_waited_for_with_patience_and_the_waiting_line_says_so() -> None:
    done = drained([node("spot-a"), *job("import", "spot-a", annotations=times(completes=900))])
    assert [fate.departure for fate in done.replay.fates] == [Departure.FINISHED]
    lines = done.told("waiting")
    assert len(lines) > 10
    assert set(lines) == {"for 1 pod: default/import-x: left to finish: a Job's pod may finish by itself"}


def test_a_budget_that_allows_none_keeps_its_pods_until_somebody_changes_it() -> None:
    done = drained(
        [node("spot-a"), node("other"), *stateful_set("db", ["spot-a"]), budget("db", {"app": "db"}, maxUnavailable=0)],
        meanwhile=lambda simulation: simulation.schedule(
            simulation.clock.now() + timedelta(hours=3),
            lambda: simulation.patch("PodDisruptionBudget", "default", "db", {"spec": {"maxUnavailable": 1}}),
        ),
    )
    [fate] = done.replay.fates
    assert fate.departure is Departure.EVICTED
    assert fate.signalled_at
    assert done.replay.offset(fate.signalled_at) >= 3 * 3600  # type: ignore[operator] # it is there
    assert "db-0: held by its budget: default/db (maxUnavailable 0) needs 1 of 1" in done.told("waiting")[0]


def test_the_mark_names_no_reclaim_and_outlives_a_day() -> None:
    found = drained(shop()).node()
    mark = json.loads(found["metadata"]["annotations"][ANNOTATION_MARK])
    assert (mark["reason"], mark["reclaimAt"]) == ("maintenance", None)
    assert mark["instance"] == found["spec"]["providerID"].rpartition("/")[2]
    assert mark["expiresAt"] > mark["since"]
    assert [t["value"] for t in found["spec"]["taints"] if t["key"] == TAINT_INTERRUPTED] == ["maintenance"]


def test_a_node_without_a_provider_id_is_found_by_its_name() -> None:
    plain = node("plain")
    del plain["spec"]["providerID"]
    done = drained([plain, node("other"), *deployment("web", {"plain": 2})], "plain")
    assert [record.ending for record in done.replay.records] == [Ending.DRAINED]
    found = done.node("plain")
    assert LABEL_DRAINING in found["metadata"]["labels"]
    assert json.loads(found["metadata"]["annotations"][ANNOTATION_MARK])["instance"] == "plain"


def test_several_nodes_share_what_their_budget_allows() -> None:
    objects = [node("spot-b"), *shop(), budget("more", {"app": "api"}, maxUnavailable=1)]
    objects += deployment("api", {"spot-a": 3, "spot-b": 3})
    done = drained(objects, "spot-a", "spot-b")
    assert [record.ending for record in done.replay.records] == [Ending.DRAINED] * 2
    assert (done.exceeded("web"), done.exceeded("more")) == (0, 0)


def test_an_empty_node_is_drained_at_once() -> None:
    done = drained([node("spot-a")])
    assert ([record.ending for record in done.replay.records], done.replay.exit_code) == ([Ending.DRAINED], 0)


def test_an_undo_by_another_hand_calls_the_drain_off_and_it_does_not_cordon_again() -> None:
    def undo_later(simulation: Simulation) -> None:
        done = {"metadata": {"annotations": {ANNOTATION_MARK: None}}, "spec": {"unschedulable": None}}
        simulation.schedule(at(30), lambda: simulation.patch("Node", "", "spot-a", done))

    done = drained(shop(2, maxUnavailable=0), settings=WITHOUT_RELEASE, meanwhile=undo_later)
    [record] = done.replay.records
    assert (record.ending, done.replay.exit_code) == (Ending.FAILED, 1)
    assert done.replay.offset(record.ended_at) == pytest.approx(30, abs=1)
    assert done.told("problem") == ["called off: our mark was taken off the node"]
    assert not done.node()["spec"].get("unschedulable")


# --- with a deadline


def test_within_a_deadline_a_pod_that_its_budget_holds_is_deleted_in_time_for_its_grace() -> None:
    done = drained(shop(2, maxUnavailable=0), within=300, settings=WITHOUT_RELEASE)
    assert {fate.departure for fate in done.replay.fates} == {Departure.DELETED_AGAINST_BUDGET}
    offsets = [done.replay.offset(fate.signalled_at) for fate in done.replay.fates]
    assert offsets == [pytest.approx(300 - 5 - 30, abs=0.1)] * 2
    assert done.replay.exit_code == 0


def test_what_is_still_there_at_the_deadline_lives_on_and_is_not_called_lost() -> None:
    done = drained(shop(2, maxUnavailable=0), within=60, settings=NEVER)
    assert {fate.departure for fate in done.replay.fates} == {Departure.STAYED}
    assert ([record.ending for record in done.replay.records], done.replay.exit_code) == ([Ending.FAILED], 1)
    assert not done.told("lost")


# --- what is told


def test_the_end_says_that_the_node_is_empty_and_how_it_gets_pods_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(shop()) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "maintenance, no deadline" in text
    assert "6 pods: all left gracefully, 1 node empty at +" in text
    assert "spot-a is empty and stays cordoned; evac undo spot-a gives it pods again" in text
    assert "reclaim" not in text


def test_a_drain_that_is_not_over_in_time_says_what_is_left_and_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(shop(2, maxUnavailable=0), within=60, settings=NEVER) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "2 pods still there: held by its budget: " in text
    assert "spot-a is not empty; evac drain spot-a goes on, evac undo spot-a takes it back" in text
    assert text.endswith("2 pods: 0 left gracefully, 2 still there")


def test_broken_off_it_says_what_is_left_and_the_two_ways_from_there() -> None:
    with pytest.raises(Interrupted) as caught:
        drained(shop(2, maxUnavailable=0), settings=WITHOUT_RELEASE, interrupted_at=30)
    assert caught.value.message.startswith(
        "interrupted: spot-a still has 2 pods: default/web-5d4f8c7b9-00 default/web-"
    )
    assert "held by its budget: default/web (maxUnavailable 0) needs 4 of 4" in caught.value.message
    assert caught.value.cure == "evac drain spot-a goes on from here; to take it back: evac undo spot-a"


# --- a dry run, and the way in


@pytest.fixture
def api() -> Api:
    return Api([*shop(), bare("alone", "spot-a")])


@pytest.fixture
def way(api: Api, tmp_path: Path) -> Iterator[str]:
    with served(api, tmp_path) as kubeconfig:
        yield kubeconfig


def test_a_dry_run_only_reads_and_says_what_would_happen(api: Api, way: str) -> None:
    document = told(evac("drain", "spot-a", "--kubeconfig", way, "--dry-run", "--output", "json"))
    assert (document["mode"], document["exit_code"], document["totals"]["graceful"]) == ("dry-run", 0, 7)
    [found] = document["drains"]
    assert (found["reason"], found["reclaim_at_s"], found["reclaimed_at_s"]) == ("maintenance", None, None)
    assert {method for method, _ in api.asked} == {"GET"}
    text = " ".join(evac("drain", "spot-a", "--dry-run", KUBECONFIG=way).stdout.split())
    assert "7 pods: all would have left gracefully" in text


def test_a_dry_run_of_what_would_never_end_ends_and_says_what_holds_it_up(api: Api, way: str) -> None:
    api.objects[:] = shop(2, maxUnavailable=0)
    result = evac("drain", "spot-a", "--kubeconfig", way, "--dry-run", "--release", "off")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "2 pods would still be there: held by its budget: default/web (maxUnavailable 0)" in text
    assert "2 pods: 0 would have left gracefully, 2 would still be there" in text


def test_a_dry_run_within_a_deadline_shows_what_it_costs(api: Api, way: str) -> None:
    api.objects[:] = shop(2, maxUnavailable=0)
    result = evac("drain", "spot-a", "--kubeconfig", way, "--dry-run", "--release", "off", "--within", "2m")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "to be empty by +120.0s" in text
    assert "2 pods held by PDB default/web to the last safe moment, then deleted" in text
    assert "so that the node is empty in time" in text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("spot-a", "--within", "1m", "--no-deadline"), "--within gives a deadline, and --no-deadline takes it away"),
        (("spot-a", "--within", "soon"), "--within: 'soon' is not a duration"),
        (("spot-x",), "spot-x: no such node in this cluster"),
        (("spot-x", "--dry-run"), "spot-x: no such node in this cluster"),
        (("spot-a", "--context", "elsewhere"), "elsewhere"),
    ],
)
def test_wrong_usage_ends_with_2_and_a_cure(api: Api, way: str, words: tuple[str, ...], complaint: str) -> None:
    result = evac("drain", *words, "--kubeconfig", way)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert {method for method, _ in api.asked} <= {"GET"}


def test_without_a_node_it_is_wrong_usage() -> None:
    assert evac("drain").exit_code == 2


def test_on_a_terminal_it_has_to_be_agreed_to(api: Api, way: str) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"n\n")
    command = [sys.executable, "-m", "evac", "drain", "spot-a", "--kubeconfig", way]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert "by context here of" in done.stderr
    assert "nothing was touched" in done.stderr
    assert not api.asked


def test_as_a_plugin_of_kubectl_its_help_is_kubectls() -> None:
    result = CliRunner().invoke(app, ["drain", "--help"], prog_name="kubectl evac")
    assert result.stdout.startswith("Usage: kubectl evac drain ")


def test_kubectl_finds_the_plugin_by_the_name_of_its_script() -> None:
    import tomllib

    scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["kubectl-evac"].partition(":")
    code = f"import sys; sys.argv = ['kubectl-evac', 'undo', '--help']; from {module} import {function} as f; f()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: kubectl evac undo ")
