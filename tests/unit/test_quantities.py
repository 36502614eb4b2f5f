"""Kubernetes quantities, and what quotas charge for a pod."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.domain.values.quantities import charge_of, thousandths

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7000),
        (7, 7000),
        (0.5, 500),
        ("100m", 100),
        ("0.1", 100),
        (".5", 500),
        ("5.", 5000),
        ("+2", 2000),
        ("-3", -3000),
        ("1u", 1),
        ("1n", 1),
        ("1500u", 2),
        ("1k", 1_000_000),
        ("1Ki", 1_024_000),
        ("1.5Gi", 1_610_612_736_000),
        ("1E", 10**21),
        ("1Ei", 2**60 * 1000),
        ("1e3", 1_000_000),
        ("1E3", 1_000_000),
        ("2e-3", 2),
        ("12E+2", 1_200_000),
        ("1e-99", 1),
        ("100000000000000000000000000000.0001", 10**32 + 1),
        ("9" * 40 + "Ei", int("9" * 40) * 2**60 * 1000),
    ],
)
def test_a_quantity_is_read_in_thousandths_and_rounded_up(text: object, value: int) -> None:
    assert thousandths(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "x", "1x", "1 Gi", "1ki", "1KI", "--1", "1.2.3", "e3", "1e", "1e3k", "1e3Ki", "٣", None, True, "9" * 90],
)
def test_what_is_no_quantity_is_said(text: object) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        thousandths(text)


@given(st.decimals(min_value=0, max_value=10**12, places=3), st.sampled_from(["", "k", "M", "Ki", "Gi"]))
def test_a_larger_quantity_is_never_less(number: Decimal, suffix: str) -> None:
    assert thousandths(f"{number}{suffix}") >= thousandths(f"{number}") >= 0
    assert thousandths(f"{number + 1}{suffix}") > thousandths(f"{number}{suffix}")


def container(requests: Json | None = None, limits: Json | None = None, **of: Any) -> Json:
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **of}


def cpu_of(**spec: Any) -> int:
    return charge_of(spec)["requests.cpu"]


def test_a_pod_counts_as_one_and_by_what_its_containers_ask_for_together() -> None:
    two = [container({"cpu": "1", "memory": "1Gi"}, {"cpu": "2"}), container({"cpu": "500m"})]
    assert charge_of({"containers": two}) == {
        "pods": 1000,
        "count/pods": 1000,
        "requests.cpu": 1500,
        "cpu": 1500,
        "requests.memory": 2**30 * 1000,
        "memory": 2**30 * 1000,
        "limits.cpu": 2000,
    }


@pytest.mark.parametrize("containers", [None, [], [{"name": "c"}], [{"name": "c", "resources": None}]])
def test_a_pod_that_asks_for_nothing_counts_as_one(containers: Any) -> None:
    assert charge_of({"containers": containers}) == {"pods": 1000, "count/pods": 1000}


def test_a_limit_stands_for_a_request_that_is_not_there() -> None:
    assert cpu_of(containers=[container(limits={"cpu": "2"})]) == 2000
    assert cpu_of(containers=[container({"cpu": "1"}, {"cpu": "2"})]) == 1000


def test_an_extended_resource_counts_by_its_request_alone() -> None:
    charge = charge_of({"containers": [container({"nvidia.com/gpu": 1})]})
    assert charge["requests.nvidia.com/gpu"] == 1000
    assert "nvidia.com/gpu" not in charge


def test_huge_pages_count_by_their_plain_name_too() -> None:
    charge = charge_of({"containers": [container({"hugepages-2Mi": "4Mi"})]})
    assert charge["requests.hugepages-2Mi"] == charge["hugepages-2Mi"] == 2**22 * 1000


def test_of_init_containers_the_largest_counts_where_it_is_more_than_all_others_together() -> None:
    small, large = container({"cpu": "1"}), container({"cpu": "3"})
    assert cpu_of(containers=[small, small], initContainers=[large, large]) == 3000
    assert cpu_of(containers=[large, small], initContainers=[large]) == 4000


def test_a_sidecar_counts_with_the_others_and_with_the_init_containers_after_it() -> None:
    """As the scheduler and quotas add up (KEP-753): what runs at the same time."""
    sidecar, init, main = (
        container({"cpu": "1"}, restartPolicy="Always"),
        container({"cpu": "3"}),
        container({"cpu": "2"}),
    )
    assert cpu_of(containers=[main], initContainers=[sidecar]) == 3000
    assert cpu_of(containers=[main], initContainers=[sidecar, init]) == 4000
    assert cpu_of(containers=[main], initContainers=[init, sidecar]) == 3000


def test_the_overhead_of_its_runtime_comes_on_top() -> None:
    assert cpu_of(containers=[container({"cpu": "1"})], overhead={"cpu": "250m"}) == 1250


def test_what_is_asked_for_the_whole_pod_stands_in_place_of_its_containers() -> None:
    """Pod-level resources (KEP-2837)."""
    whole = {"requests": {"cpu": "5"}, "limits": {"cpu": "6"}}
    charge = charge_of({"containers": [container({"cpu": "1", "memory": "1Gi"})], "resources": whole})
    assert (charge["requests.cpu"], charge["limits.cpu"], charge["requests.memory"]) == (5000, 6000, 2**30 * 1000)


def test_one_container_that_cannot_be_read_hides_no_other() -> None:
    assert cpu_of(containers=[container({"cpu": "many"}), container({"cpu": "1"})]) == 1000
