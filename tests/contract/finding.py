"""Which node an instance is."""

from lambdas.domain.values.actions import Locate
from lambdas.domain.values.answers import Absent, Located
from tests.contract.steps import ask
from tests.contract.world import World
from tests.scenes import instance_id, node


def located(world: World, action: Locate) -> str:
    """The name of the node that was found, "" where none was."""
    answer = ask(world, world.cluster(), action)
    if isinstance(answer, Located):
        assert answer.node.instance_id == action.instance_id
        return answer.node.name
    assert answer == Absent()
    return ""


def test_a_node_is_found_by_its_name(world: World) -> None:
    world.apply(node("spot-a"))
    assert located(world, Locate(instance_id("spot-a"), ("gone", "spot-a"), may_list=False)) == "spot-a"


def test_a_node_is_found_by_listing_where_no_name_is_right(world: World) -> None:
    for name in ("spot-a", "spot-b"):
        world.apply(node(name))
    assert located(world, Locate(instance_id("spot-b"))) == "spot-b"
    assert located(world, Locate(instance_id("spot-b"), ("gone",))) == "spot-b"


def test_a_node_named_by_its_instance_id_is_found(world: World) -> None:
    name = instance_id("spot-a")
    world.apply(node(name, providerID=f"aws:///eu-west-1b/{name}"))
    assert located(world, Locate(name, (name,), may_list=False)) == name


def test_an_unknown_instance_is_absent(world: World) -> None:
    world.apply(node("spot-a"))
    assert located(world, Locate(instance_id("spot-b"), ("spot-b",))) == ""


def test_a_node_of_the_right_name_and_another_instance_is_not_it(world: World) -> None:
    world.apply(node("spot-a", providerID="aws:///eu-west-1b/i-0123456789abcdef0"))
    world.apply(node("other", providerID=f"aws:///eu-west-1b/{instance_id('spot-a')}"))
    assert located(world, Locate(instance_id("spot-a"), ("spot-a",), may_list=False)) == ""
    assert located(world, Locate(instance_id("spot-a"), ("spot-a",))) == "other"


def test_a_node_without_a_provider_id_is_nobodys(world: World) -> None:
    world.apply({**node("spot-a"), "spec": {}})
    assert located(world, Locate(instance_id("spot-a"), ("spot-a",))) == ""
