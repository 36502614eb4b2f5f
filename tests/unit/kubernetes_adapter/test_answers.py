"""Every row of the table of answers, fed with what real API servers said (recorded by tests/cluster/record.py)."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.adapters.kubernetes.answers import ROWS, read, result_of
from lambdas.adapters.kubernetes.calls import Call, Failure, Response, Trouble
from lambdas.domain.values.answers import (
    Absent,
    Blocked,
    Conflict,
    Done,
    Forbidden,
    NamespaceTerminating,
    Passing,
    Refused,
    Result,
    SeveralBudgets,
    Throttled,
    Unauthenticated,
    Unknown,
)
from lambdas.domain.values.kubernetes import BudgetRef

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "recorded.jsonl").read_text().splitlines()]
EVICTION = Call("create", "pods/eviction", "/", "POST", namespace="shop")
PATCH = Call("patch", "nodes", "/", "PATCH")

EXPECTED: dict[str, type[Result]] = {
    "evicted": Done,
    "evicted_again": Done,
    "deleted": Done,
    "held_by_numbers": Blocked,
    "held_by_none_allowed": Blocked,
    "held_by_an_unobserved_budget": Blocked,
    "held_by_too_many_pending": Blocked,
    "under_several_budgets": SeveralBudgets,
    "evicting_who_is_not_there": Absent,
    "evicting_in_no_namespace": Absent,
    "evicting_in_a_namespace_that_is_going": NamespaceTerminating,
    "evicting_another_incarnation": Absent,
    "deleting_another_incarnation": Absent,
    "evicting_another_incarnation_behind_a_budget": Blocked,
    "evicting_by_another_name": Refused,
    "evicting_in_another_namespace": Refused,
    "against_a_policy": Forbidden,
    "as_nobody_known": Unauthenticated,
    "with_a_path_that_is_none": Refused,
    "patching_against_a_test": Conflict,
    "patching_into_what_is_invalid": Conflict,
    "patching_what_is_not_there": Absent,
    "without_the_right": Forbidden,
}


def recorded(kept: dict[str, Any]) -> tuple[Call, Response]:
    call = Call(kept["verb"], kept["resource"], "/", kept["method"], namespace=kept["namespace"])
    return call, Response(kept["status"], kept["body"], retry_after=kept["retry_after"])


def one(provocation: str, version: str) -> tuple[Call, Response]:
    kept = next(k for k in RECORDED if (k["provocation"], k["version"]) == (provocation, version))
    return recorded(kept)


def status(code: int, message: str = "", *causes: tuple[str, str], **details: str) -> Response:
    """A Status as the API prints it."""
    found = [{"reason": reason, "message": text} for reason, text in causes]
    body = {"kind": "Status", "message": message, "code": code, "details": {"causes": found, **details}}
    return Response(code, body)


VERSIONS = sorted({kept["version"] for kept in RECORDED})


def test_the_oldest_and_the_newest_supported_version_are_recorded() -> None:
    assert {(k["version"], k["provocation"]) for k in RECORDED} == {(v, p) for v in ("1.34", "1.37") for p in EXPECTED}


@pytest.mark.parametrize("kept", RECORDED, ids=lambda kept: f"{kept['version']} {kept['provocation']}")
def test_what_a_real_server_said_means(kept: dict[str, Any]) -> None:
    call, response = recorded(kept)
    assert type(result_of(call, response)) is EXPECTED[kept["provocation"]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("provocation", [name for name, result in EXPECTED.items() if result is Blocked])
def test_the_budget_that_holds_a_pod_is_named(provocation: str, version: str) -> None:
    result = result_of(*one(provocation, version))
    assert isinstance(result, Blocked)
    assert result.budget == BudgetRef("default", "web")
    assert "web" in result.message


@pytest.mark.parametrize("version", VERSIONS)
def test_a_missing_right_is_told_without_the_name_of_the_pod(version: str) -> None:
    result = result_of(*one("without_the_right", version))
    assert isinstance(result, Forbidden)
    assert result.message.startswith("may not create pods/eviction: User ")
    assert 'cannot create resource "pods/eviction"' in result.message


def test_a_budget_that_allows_less_than_none_holds_the_pod() -> None:
    # The API lets nobody write such a status; the message is that of the eviction's source.
    message = "The disruption budget db does not allow evicting pods currently: pdb disruptions allowed is negative"
    result = result_of(EVICTION, status(403, "forbidden", ("DisruptionBudget", message), name="db", kind="pdb"))
    assert result == Blocked(message, BudgetRef("shop", "db"))


def test_what_rbac_forbids_about_budgets_is_no_budget_that_holds_a_pod() -> None:
    forbidden = status(403, "cannot list", kind="poddisruptionbudgets", group="policy", name="web")
    assert isinstance(result_of(EVICTION, forbidden), Forbidden)


def test_a_budget_in_words_of_another_version_still_holds_the_pod() -> None:
    result = result_of(EVICTION, status(429, "no", ("DisruptionBudget", "not now")))
    assert result == Blocked("not now", None)


@pytest.mark.parametrize(("header", "expected"), [(None, 1.0), (7.0, 7.0), (0.0, 0.0)])
def test_a_429_without_a_budget_is_throttling(header: float | None, expected: float) -> None:
    response = Response(429, status(429, "too many requests").body, retry_after=header)
    assert result_of(EVICTION, response) == Throttled(timedelta(seconds=expected))


def test_a_request_that_came_as_nobody_is_no_matter_of_rights() -> None:
    message = 'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group ""'
    assert isinstance(result_of(EVICTION, status(403, message)), Unauthenticated)


@pytest.mark.parametrize("code", [408, 500, 502, 503, 504, 599])
def test_a_server_that_fails_may_pass(code: int) -> None:
    assert isinstance(result_of(EVICTION, status(code, "etcdserver: leader changed")), Passing)


@pytest.mark.parametrize("code", [301, 400, 405, 413, 415, 418])
def test_what_is_nowhere_in_the_table_is_refused(code: int) -> None:
    result = result_of(EVICTION, status(code, "why"))
    assert result == Refused(f"create pods/eviction: {code} why")


def test_a_404_of_a_load_balancer_is_no_pod_that_is_gone() -> None:
    assert isinstance(result_of(EVICTION, Response(404, text="<html>not found</html>")), Refused)


def test_a_conflict_that_is_not_about_the_uid_is_observed_again() -> None:
    message = "Operation cannot be fulfilled on pods: the object has been modified"
    assert result_of(EVICTION, status(409, message)) == Conflict(message)


def test_an_invalid_eviction_is_a_fault_of_ours_not_a_race() -> None:
    assert isinstance(result_of(EVICTION, status(422, "Invalid value")), Refused)
    assert isinstance(result_of(PATCH, status(422, "Invalid value")), Conflict)


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (Trouble.UNREACHABLE, Passing),
        (Trouble.BROKEN, Passing),
        (Trouble.SILENT, Unknown),
        (Trouble.NO_TOKEN, Unauthenticated),
    ],
)
def test_no_answer_means(trouble: Trouble, expected: type[Result]) -> None:
    result = result_of(EVICTION, Failure(trouble, "why"))
    assert type(result) is expected
    assert getattr(result, "message", "") == "why"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.integers(100, 599),
    st.dictionaries(st.sampled_from(["kind", "message", "reason", "details", "code"]), json_values),
    json_values,
    st.sampled_from([EVICTION, PATCH]),
)
def test_whatever_comes_is_one_result(code: int, body: dict[str, Any], causes: object, call: Call) -> None:
    details = {"causes": causes, "name": causes}
    for given_body in (body, {**body, "kind": "Status"}, {"kind": "Status", "details": details}):
        result = result_of(call, Response(code, given_body))
        assert isinstance(result, Done) == (200 <= code < 300)


def test_the_last_row_takes_everything() -> None:
    assert ROWS[-1].fits(read(EVICTION, Response(299, {})))
