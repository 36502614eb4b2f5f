"""`--report` writes the replay as a page, and refuses a path before anything begins."""

from pathlib import Path

from tests.unit.cli.typing_it import S1, TO_THE_END, evac
from tests.unit.report.reading import read


def test_the_replay_of_s1_is_a_page_with_a_bar_for_each_pod(tmp_path: Path) -> None:
    path = tmp_path / "s1.html"
    assert evac(*S1, "--quiet", "--report", str(path)).exit_code == 0
    page = read(path.read_text())
    assert len(list(page.all("div", "pod"))) == 33
    assert len(list(page.all("polyline", "ready"))) == 3
    assert {row.text.split("PDB ")[-1] for row in page.all("div", "workload")}


def test_lost_pods_make_a_page_too_and_the_exit_code_stays(tmp_path: Path) -> None:
    path = tmp_path / "lost.html"
    result = evac(*S1, *TO_THE_END, "--quiet", "--report", str(path))
    assert result.exit_code == 1
    [headline] = read(path.read_text()).all("h1")
    assert "died with the host" in headline.text
    assert headline.attributes["class"] == "bad"


def test_json_and_a_page_come_together(tmp_path: Path) -> None:
    path = tmp_path / "s1.html"
    assert evac(*S1, "--output", "json", "--report", str(path)).stdout.startswith("{")
    assert path.exists()


def test_a_path_that_cannot_be_written_is_refused_before_the_drain(tmp_path: Path) -> None:
    result = evac(*S1, "--report", str(tmp_path / "no" / "s1.html"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert result.stdout == ""
