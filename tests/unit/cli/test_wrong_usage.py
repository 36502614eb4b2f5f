"""Wrong usage ends with 2, one line of what is wrong and one of what to do, and nothing on standard output."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenes import bare, node, spot_notice
from tests.unit.cli.typing_it import EXAMPLES, S1, evac, events, manifests

CLUSTER = str(EXAMPLES / "s1" / "cluster.yaml")
EVENTS = str(EXAMPLES / "s1" / "events")


@pytest.mark.parametrize(
    ("words", "message", "cure"),
    [
        (["replay"], "neither EVENTS nor --node", "--node NAME"),
        (["replay", EVENTS], "no cluster is given", "kubectl get nodes,pods,pdb"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--kubeconfig", "x"], "two clusters", "one of them"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--context", "x"], "--context", "--kubeconfig"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--dry-run"], "--dry-run", "leave it out"),
        (["replay", EVENTS, "--kubeconfig", "x", "--speed", "2"], "--speed", "--dry-run"),
        (["replay", EVENTS, "--kubeconfig", "x", "--startup", "2s"], "--startup", "--dry-run"),
        (["replay", "-", "--cluster", "-"], "read once", "file"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--speed", "0"], "no speed", "above 0"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--speed", "nan"], "no speed", "above 0"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--speed", "fast"], "--speed", "--help"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--speed", "9", "--output", "json"], "--speed", "leave"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--startup", "soon"], "--startup: 'soon' is not a duration", "10s"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--margin", "31"], "--margin", "0s to 30s"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--grace-counted", "86"], "--grace-counted", "0s to 85s"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--budgets", "strict"], "'strict' is not one of 'pace'", "--help"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--release", "some"], "'some' is not one of 'within'", "--help"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--no-pacing"], "--no-pacing is no more", "--budgets deadline"),
        (["replay", "--respect-budgets-to-the-end"], "--respect-budgets-to-the-end is no more", "--budgets never"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--output", "xml"], "'--output': 'xml' is not one of", "--help"),
        (["replay", EVENTS, "--cluster", CLUSTER, "--speed", "9", "--quiet"], "--quiet", "leave"),
        (["replay", "/nowhere", "--cluster", CLUSTER], "/nowhere: no such file", "path"),
        (["replay", EVENTS, "--cluster", "/nowhere"], "/nowhere: no such file", "path"),
        (["replay", CLUSTER, "--cluster", CLUSTER], "is not JSON", "--cluster"),
        (["replay", EVENTS, "--cluster", EVENTS], "no Kubernetes object", "kubectl get"),
        (["replay", EVENTS, "--cluster", f"{EVENTS}/2-spot-interruption-notice.json"], "EventBridge event", "EVENTS"),
        (["replay", "--node", "ip-10-0-41-17", "--cluster", CLUSTER], "no such node", "did you mean ip-10-0-41-17.eu"),
        (["replay", "--node", "x", "--cluster", CLUSTER], "no such node", "(i-0a1b2c3d4e5f60718)"),
        (["replay", "--bogus"], "--bogus", "evac replay --help"),
        (["evict"], "evict", "evac --help"),
        (["drain"], "NODE", "evac drain --help"),
    ],
)
def test_each_mistake_has_its_message_and_its_cure(words: list[str], message: str, cure: str) -> None:
    result = evac(*words)
    lines = result.stderr.splitlines()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(lines) == 2
    assert lines[0].startswith("evac: ")
    assert message in lines[0]
    assert cure in lines[1]


def test_events_of_other_instances_name_the_nodes_that_there_are(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [node(f"spot-{i}") for i in range(9)])
    result = evac("replay", events(tmp_path, [spot_notice("elsewhere")]), "--cluster", cluster)
    assert result.exit_code == 2
    assert "no node of this cluster is the instance of any event (i-656c7365776865726" in result.stderr
    assert "spot-0 (i-73706f742d3" in result.stderr
    assert "and 6 more" in result.stderr


def test_events_without_an_interruption_say_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"detail-type": "x", "source": "y", "detail": {}}\n{"broken": \n')
    result = evac("replay", str(path), "--cluster", CLUSTER)
    assert result.exit_code == 2
    assert "no event is an interruption: 1 malformed, 1 of other kinds" in result.stderr
    assert f"{path}:2" in result.stderr


def test_a_cluster_without_nodes_has_none_to_name(tmp_path: Path) -> None:
    cluster = manifests(tmp_path, [bare("p", "spot-a")])
    result = evac("replay", events(tmp_path, [spot_notice("spot-a")]), "--cluster", cluster)
    assert (result.exit_code, "nodes here: none" in result.stderr) == (2, True)


def test_an_error_in_yaml_is_one_line_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("kind: List\napiVersion: v1\nitems:\n\t- kind: Pod\n")
    result = evac("replay", EVENTS, "--cluster", str(path))
    assert result.stderr.startswith(f"evac: {path}:4:1: is not YAML")
    assert "spaces" in result.stderr


def test_a_fault_of_our_own_is_no_traceback_and_not_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evac.cli.run.hear", lambda _: 1 / 0)
    result = evac(*S1)
    assert result.exit_code == 70
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr
    assert "EVAC_TRACEBACK" in result.stderr


_LINES = ["kind: Pod\n", "apiVersion: v1\n", "metadata:\n", "---\n", "  name: a\n", "spec:\n", "  nodeName: a\n"]
_LIST = ['{"kind": "List", "apiVersion": "v1", "items": [', "]}", "null", ","]
_SCRAPS = st.lists(
    st.sampled_from([*_LINES, *_LIST, "- ", "&a", "*a", ": ", *'{}"\t\x00\xff']),
    max_size=14,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(_SCRAPS, st.booleans())
def test_no_file_makes_a_traceback(tmp_path_factory: pytest.TempPathFactory, content: str, as_events: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content.encode("latin-1"))
    words = [str(path), "--cluster", CLUSTER] if as_events else [EVENTS, "--cluster", str(path)]
    result = evac("replay", *words)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 2


def test_a_pod_name_with_control_codes_reaches_no_terminal(tmp_path: Path) -> None:
    pod = bare("p", "spot-a")
    pod["metadata"]["name"] = "p\x1b]0;title\x07"
    result = evac("replay", "--node", "spot-a", "--cluster", manifests(tmp_path, [node("spot-a"), pod]))
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert json.dumps(result.output).count("\\u00") == 0


def test_a_deadline_without_a_unit_is_asked_about() -> None:
    """Who means minutes would have budgets overridden within seconds."""
    done = evac("drain", "spot-a", "--within", "15")
    assert done.exit_code == 2
    assert "'15' has no unit" in done.stderr
    assert "15m" in done.stderr
