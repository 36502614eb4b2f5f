"""The examples are what they say, and come out as they should."""

import re
from collections import Counter
from typing import Any

import pytest
import yaml

from tests.unit.cli.typing_it import EXAMPLES, NOT_RELEASED, S1, TO_THE_END, evac, told

SPOT = "ip-10-0-41-17.eu-west-1.compute.internal"


@pytest.fixture(scope="module")
def s1() -> dict[str, Any]:
    return told(evac(*S1, "--output", "json"))


@pytest.fixture(scope="module")
def paced() -> dict[str, Any]:
    return told(evac(*S1, *NOT_RELEASED, "--output", "json"))


def test_s1_is_the_incident_thirty_of_forty_pods_on_one_spot_node_behind_max_unavailable_1() -> None:
    items = yaml.safe_load((EXAMPLES / "s1" / "cluster.yaml").read_text())["items"]
    checkout = [o for o in items if o["kind"] == "Pod" and o["metadata"]["labels"].get("app") == "checkout"]
    assert len(checkout) == 40
    assert sum(1 for o in checkout if o["spec"]["nodeName"] == SPOT) == 30
    [budget] = [o for o in items if o["kind"] == "PodDisruptionBudget" and o["metadata"]["name"] == "checkout"]
    assert budget["spec"]["maxUnavailable"] == 1
    [spot] = [o for o in items if o["kind"] == "Node" and o["metadata"]["name"] == SPOT]
    assert spot["metadata"]["labels"]["eks.amazonaws.com/capacityType"] == "SPOT"
    assert spot["spec"]["providerID"].startswith("aws:///eu-west-1b/i-")


def of_checkout(document: dict[str, Any]) -> list[dict[str, Any]]:
    [drain] = document["drains"]
    return [pod for pod in drain["pods"] if pod["workload"] == "Deployment shop/checkout"]


def test_every_pod_of_s1_leaves_gracefully_and_no_budget_is_exceeded(s1: dict[str, Any]) -> None:
    totals = s1["totals"]
    assert s1["exit_code"] == 0
    assert (totals["pods"], totals["evicted"], totals["graceful"], totals["lost"]) == (33, 33, 33, 0)
    assert (totals["deleted"], totals["deleted_against_budget"], totals["cut_short"]) == (0, 0, 0)
    assert all(b["fewest_ready"] >= b["ready_before"] for b in s1["budgets"])
    assert [b["exceeded_by"] for b in s1["drains"][0]["budgets"]] == [0, 0]
    assert s1["drains"][0]["ended_at_s"] < 40


def test_no_workload_of_s1_is_ever_short_of_a_replica(s1: dict[str, Any]) -> None:
    ready = {w["name"]: (w["wanted"], w["ready_before"], w["fewest_ready"]) for w in s1["workloads"]}
    assert ready == {"shop/checkout": (40, 40, 40), "shop/search": (3, 3, 3), "kube-system/coredns": (2, 2, 2)}


def test_the_thirty_pods_of_s1_are_released_in_three_waves_of_max_surge(s1: dict[str, Any]) -> None:
    waves = Counter(round(pod["released_at_s"], -1) for pod in of_checkout(s1))
    assert waves == {0: 10, 10: 10, 20: 10}
    assert not any(pod["not_released"] for pod in of_checkout(s1))


def test_each_pod_of_s1_is_replaced_before_it_is_signalled(s1: dict[str, Any]) -> None:
    ready = sorted(line["at_s"] for line in s1["journal"] if line["what"] == "ready" and "checkout" in line["subject"])
    signalled = sorted(pod["signalled_at_s"] for pod in of_checkout(s1))
    assert len(ready) == len(signalled) == 30
    assert all(replacement <= pod for replacement, pod in zip(ready, signalled, strict=True))
    assert all(p["released_at_s"] < p["replaced_at_s"] <= p["signalled_at_s"] < p["gone_at_s"] for p in of_checkout(s1))


def test_without_releases_s1_is_paced_and_every_pod_still_leaves_gracefully(paced: dict[str, Any]) -> None:
    totals = paced["totals"]
    assert paced["exit_code"] == 0
    assert (totals["pods"], totals["graceful"], totals["lost"]) == (33, 33, 0)
    assert totals["deleted_against_budget"] > 0
    [drain] = paced["drains"]
    against = [p for p in drain["pods"] if p["departure"] == "deleted_against_budget"]
    assert {p["held_by"][0] for p in against} == {"shop/checkout"}
    assert all(10 <= p["signalled_at_s"] <= 86 for p in against)
    assert all(p["gone_at_s"] < 120 for p in drain["pods"])


def test_without_releases_s1_tells_what_the_deletions_cost(paced: dict[str, Any]) -> None:
    [checkout] = [w for w in paced["workloads"] if w["name"] == "shop/checkout"]
    against = paced["totals"]["deleted_against_budget"]
    assert checkout["ready_before"] == checkout["wanted"] == 40
    assert 40 - against < checkout["fewest_ready"] < 39
    [budget] = [b for b in paced["budgets"] if b["name"] == "shop/checkout"]
    assert (budget["rule"], budget["healthy_needed"]) == ("maxUnavailable 1", 39)
    assert {pod["not_released"] for pod in of_checkout(paced)} == {"release is switched off"}


def test_the_same_replay_says_the_same_twice(s1: dict[str, Any]) -> None:
    assert told(evac(*S1, "--output", "json")) == s1


def test_respecting_budgets_to_the_end_loses_pods_and_names_the_budget_that_held_them() -> None:
    result = evac(*S1, *TO_THE_END)
    assert result.exit_code == 1
    flowing = " ".join(result.stdout.split())
    assert "PDB shop/checkout held" in result.stdout
    document = told(evac(*S1, *TO_THE_END, "--output", "json"))
    assert document["exit_code"] == 1
    assert f"{document['totals']['lost']} LOST with the host; PDB shop/checkout was exceeded" in flowing
    assert document["totals"]["lost"] > 15


@pytest.mark.parametrize("example", ["statefulset", "budgets", "jobs", "forbidden"])
def test_every_pod_of_the_small_examples_leaves_gracefully(example: str) -> None:
    folder = str(EXAMPLES / example)
    assert evac("replay", folder, "--cluster", folder).exit_code == 0


FORBIDDEN = {
    "payments/ledger": "ResourceQuota payments/payments has no room for its replacement (pods)",
    "media/uploads": "its volume uploads cannot be on two nodes",
    "edge/gateway": "Service edge/gateway-stable selects by pod-template-hash",
    "shop/session": "its Deployment's strategy is Recreate",
    "shop/cart": "HorizontalPodAutoscaler shop/cart scales down after 30 s and would act on the surplus",
    "shop/search": "the Deployment says spot-evac.dev/release: off",
    "legacy/orders": "ReplicationController legacy/orders-before-2024 would adopt it",
    "geo/tiles": "its required anti-affinity keeps the replacement out of its topology.kubernetes.io/zone",
}


def test_what_forbids_a_release_is_named_for_each_workload_and_the_others_are_released() -> None:
    folder = str(EXAMPLES / "forbidden")
    document = told(evac("replay", folder, "--cluster", folder, "--output", "json"))
    assert document["cluster"] == {"unknown_kinds": [], "notes": []}
    pods = document["drains"][0]["pods"]
    reasons = {p["workload"].removeprefix("Deployment "): p["not_released"] for p in pods if p["not_released"]}
    assert reasons == FORBIDDEN
    released = {p["workload"] for p in pods if p["released_at_s"] is not None}
    assert released == {"Deployment shop/front"}
    short = {w["name"] for w in document["workloads"] if w["fewest_ready"] < w["wanted"]}
    assert short == FORBIDDEN.keys()


def test_the_table_output_tells_each_reason_once() -> None:
    folder = str(EXAMPLES / "forbidden")
    flowing = " ".join(evac("replay", folder, "--cluster", folder).stdout.split())
    for workload, reason in FORBIDDEN.items():
        told_of = f"of Deployment {workload}: {reason}".replace("for its replacement", "for their replacements")
        assert flowing.count(told_of) == 1, workload
    assert "2 pods of Deployment shop/front released in 2 waves, each replaced before it went" in flowing
    assert "unknown kinds" not in flowing


def test_releases_beside_kinds_that_are_not_known_are_said_to_be_optimistic() -> None:
    folder = str(EXAMPLES / "jobs")
    flowing = " ".join(evac("replay", folder, "--cluster", folder).stdout.split())
    assert "released as if there were none of the unknown kinds; some of them may forbid it" in flowing


def test_a_stateful_set_leaves_one_by_one_and_its_last_pod_at_the_last_safe_moment() -> None:
    folder = str(EXAMPLES / "statefulset")
    [drain] = told(evac("replay", folder, "--cluster", folder, "--output", "json"))["drains"]
    signalled = {p["name"]: p["signalled_at_s"] for p in drain["pods"]}
    assert signalled == pytest.approx({"postgres-0": 0, "postgres-1": 65, "postgres-2": 85}, abs=1)


def test_work_that_is_better_left_to_finish_is() -> None:
    folder = str(EXAMPLES / "jobs")
    [drain] = told(evac("replay", folder, "--cluster", folder, "--output", "json"))["drains"]
    ways = {p["name"].rpartition("-")[0]: p["departure"] for p in drain["pods"]}
    assert ways["nightly-report"] == "finished"
    assert ways["reindex"] == "evicted"
    runner = next(p for p in drain["pods"] if p["name"].startswith("runner"))
    assert runner["signalled_at_s"] == pytest.approx(55, abs=1)


def test_a_queue_of_mixed_bodies_gives_each_its_fate() -> None:
    folder = str(EXAMPLES / "mixed")
    result = evac("replay", f"{folder}/events.jsonl", "--cluster", folder, "--output", "json")
    document = told(result)
    assert result.exit_code == 0
    kinds = [event["kind"] for event in document["events"]["each"]]
    assert kinds == ["interruption"] * 4 + ["ignored"] * 2 + ["malformed"] * 2
    assert sorted(drain["ending"] for drain in document["drains"]) == ["drained", "drained", "not_ours"]
    later = next(d for d in document["drains"] if d["noticed_at_s"] == 30)
    assert min(p["signalled_at_s"] for p in later["pods"]) >= 30


def test_each_command_of_their_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    lines = re.findall(r"^\.venv/bin/evac (.+?)(?: +#.*)?$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert len(lines) > 3
    for line in lines:
        words = line.replace("--speed 10", "--speed 1000000").split()
        expected = 1 if "never" in words else 0
        assert evac(*words).exit_code == expected, line
