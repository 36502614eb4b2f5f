"""A real API server's answers mean what the table says."""

from collections.abc import Iterator

import pytest

from controlplane import Api, ControlPlane
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Response, Server
from lambdas.domain.values.answers import (
    Absent,
    Blocked,
    Conflict,
    Done,
    Forbidden,
    NamespaceTerminating,
    Refused,
    Result,
    SeveralBudgets,
    Unauthenticated,
)
from lambdas.domain.values.kubernetes import BudgetRef
from tests.cluster import provocations as provoke
from tests.cluster.provocations import Provocation
from tests.cluster.rig import connected

pytestmark = pytest.mark.cluster

WEB = BudgetRef("default", "web")


@pytest.fixture
def server(plane: ControlPlane, api: Api) -> Iterator[Server]:
    """The API server to somebody who may do everything."""
    with connected(plane, "admin") as cluster:
        yield cluster.server


@pytest.mark.parametrize(
    ("provocation", "status", "expected"),
    [
        (provoke.evicted, 201, Done),
        (provoke.evicted_again, 201, Done),
        (provoke.deleted, 200, Done),
        (provoke.getting_a_node, 200, Done),
        (provoke.under_several_budgets, 500, SeveralBudgets),
        (provoke.evicting_who_is_not_there, 404, Absent),
        (provoke.evicting_in_no_namespace, 404, Absent),
        (provoke.evicting_another_incarnation, 409, Absent),
        (provoke.deleting_another_incarnation, 409, Absent),
        (provoke.patching_what_is_not_there, 404, Absent),
        (provoke.evicting_by_another_name, 400, Refused),
        (provoke.evicting_in_another_namespace, 400, Refused),
        (provoke.with_a_path_that_is_none, 404, Refused),
        (provoke.patching_against_a_test, 422, Conflict),
        (provoke.patching_into_what_is_invalid, 422, Conflict),
        (provoke.as_nobody_known, 401, Unauthenticated),
        (provoke.against_a_policy, 403, Forbidden),
        (provoke.evicting_in_a_namespace_that_is_going, 403, NamespaceTerminating),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_an_answer_means(
    provocation: Provocation, status: int, expected: type[Result], plane: ControlPlane, api: Api, server: Server
) -> None:
    call, reply = provocation(plane, api, server)
    assert isinstance(reply, Response)
    assert (reply.status, type(result_of(call, reply))) == (status, expected)


@pytest.mark.parametrize(
    ("provocation", "status", "says"),
    [
        (provoke.held_by_numbers, 429, "needs 1 healthy pods and has 1 currently"),
        (provoke.held_by_none_allowed, 429, "The disruption budget web "),
        (provoke.held_by_an_unobserved_budget, 429, "is still being processed by the server"),
        (provoke.held_by_too_many_pending, 403, "not confirmed by PDB controller"),
        (provoke.evicting_another_incarnation_behind_a_budget, 429, "The disruption budget web "),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_budget_that_holds_a_pod_is_named(
    provocation: Provocation, status: int, says: str, plane: ControlPlane, api: Api, server: Server
) -> None:
    call, reply = provocation(plane, api, server)
    assert isinstance(reply, Response)
    result = result_of(call, reply)
    assert isinstance(result, Blocked)
    assert (reply.status, result.budget) == (status, WEB)
    assert says in result.message


def test_a_missing_right_is_named_without_the_pod(plane: ControlPlane, api: Api) -> None:
    with connected(plane, "handler") as cluster:
        call, reply = provoke.without_the_right(plane, api, cluster.server)
    result = result_of(call, reply)
    assert isinstance(result, Forbidden)
    assert result.message.startswith('may not create pods/eviction: User "arn:aws:sts::123456789012:assumed-role/')
    assert '"web"' not in result.message


def test_only_an_unobserved_budget_comes_with_a_time_to_retry(plane: ControlPlane, api: Api, server: Server) -> None:
    _, unobserved = provoke.held_by_an_unobserved_budget(plane, api, server)
    assert isinstance(unobserved, Response)
    assert unobserved.retry_after == 10
