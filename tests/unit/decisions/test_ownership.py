"""Whether a node is the one that was found, and how it is looked for."""

import pytest

from lambdas.domain.decisions.ownership import has_changed_hands, how_to_locate
from lambdas.domain.values.actions import Locate
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.notices import NO_DEADLINE, Notice, Reason
from tests.unit.builders import at

ONE, TWO = "aws:///eu-west-1b/i-1", "aws:///eu-west-1b/i-2"


@pytest.mark.parametrize(
    ("node", "located", "has_changed"),
    [
        (None, Node("a", "1", ONE), False),
        (Node("a", "1", ONE), Node("a", "1", ONE), False),
        (Node("a", "2", ONE), Node("a", "1", ONE), False),  # its kubelet registered it anew
        (Node("a", "2", TWO), Node("a", "1", ONE), True),
        (Node("a", "1"), Node("a", "1"), False),
        (Node("a", "2"), Node("a", "1"), True),  # nothing says that it is the same host
        (Node("a", "2", ONE), Node("a", "1"), True),
        (Node("a", "2"), Node("a", "1", ONE), True),
    ],
)
def test_another_uid_is_another_node_unless_its_instance_is_known_to_be_the_same(
    node: Node | None, located: Node, has_changed: bool
) -> None:
    assert has_changed_hands(node, located) is has_changed


def test_a_node_that_is_named_is_found_by_that_name_alone() -> None:
    notice = Notice("plain", Reason.MAINTENANCE, at(0), NO_DEADLINE)
    how = how_to_locate(notice, None, was_asked=False, cluster_name="", node_name="plain")
    assert how == Locate("plain", ("plain",), may_list=False, is_by_name=True)
