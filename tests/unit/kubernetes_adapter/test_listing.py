"""A full list, in pages or not."""

from typing import Any

import pytest

from lambdas.adapters.kubernetes.calls import Response
from lambdas.adapters.kubernetes.kinds import BUDGETS, NODES, SERVICES, pods_on
from lambdas.adapters.kubernetes.listing import Listed, Unlisted, list_all
from lambdas.adapters.kubernetes.paths import BadName
from tests.unit.kubernetes_adapter.scripted import REFUSED, Scripted, listed, pod, refused


def test_pages_are_followed_to_the_last() -> None:
    server = Scripted([listed(5, pod("a", 1), token="next"), listed(5, pod("b", 2), token="more"), listed(5)])
    result = list_all(server, BUDGETS)
    assert isinstance(result, Listed)
    assert [seen.key for seen in result.objects] == ["uid-a", "uid-b"]
    assert result.version == "5"
    assert [call.query.get("continue", "") for call in server.asked] == ["", "next", "more"]
    assert {call.query["limit"] for call in server.asked} == {"500"}


def test_the_pods_of_a_node_come_in_one_go() -> None:
    server = Scripted([listed(5)])
    list_all(server, pods_on("spot-a"))
    assert server.asked[0].query == {"fieldSelector": "spec.nodeName=spot-a"}


def test_a_token_that_expires_half_way_begins_anew() -> None:
    server = Scripted([listed(5, pod("a", 1), token="next"), refused(410), listed(9, pod("b", 2))])
    result = list_all(server, NODES)
    assert isinstance(result, Listed)
    assert ([seen.key for seen in result.objects], result.version) == (["uid-b"], "9")


def test_a_token_that_always_expires_is_given_up() -> None:
    server = Scripted([listed(5, token="next"), refused(410)])
    result = list_all(server, NODES)
    assert isinstance(result, Unlisted)
    assert len(server.asked) < 10


@pytest.mark.parametrize("reply", [REFUSED, refused(403), refused(500)])
def test_what_fails_is_handed_on(reply: Any) -> None:
    result = list_all(Scripted([reply]), SERVICES)
    assert isinstance(result, Unlisted)
    assert result.reply == reply


@pytest.mark.parametrize("body", [{"items": 7}, {"items": "text"}, {"items": {"a": 1}}])
def test_what_is_no_list_is_trouble(body: Any) -> None:
    assert isinstance(list_all(Scripted([Response(200, body)]), NODES), Unlisted)


@pytest.mark.parametrize("body", [{}, {"items": None}, {"items": [], "metadata": None}])
def test_an_empty_list_is_empty(body: Any) -> None:
    assert list_all(Scripted([Response(200, body)]), NODES) == Listed((), "")


def test_a_name_that_is_none_never_becomes_a_selector() -> None:
    with pytest.raises(BadName):
        pods_on("spot-a,spec.nodeName!=spot-b")
