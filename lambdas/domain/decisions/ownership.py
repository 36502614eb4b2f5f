"""Whether an instance is one of this cluster's nodes, and how to look for it."""

from lambdas.contract import ANNOTATION_MARK
from lambdas.domain.values.actions import Locate
from lambdas.domain.values.drains import Ending
from lambdas.domain.values.kubernetes import Node
from lambdas.domain.values.notices import Instance, Notice


def is_foreign(instance: Instance | None, cluster_name: str) -> bool:
    """Its tags name clusters, and not ours: EventBridge gives every queue every instance's events."""
    if instance is None or not cluster_name or not instance.cluster_names:
        return False
    return cluster_name not in instance.cluster_names


def has_changed_hands(node: Node | None, located: Node) -> bool:
    """Whether another instance has come under the node's name: addresses, and so names, are used again.

    The same instance's kubelet may register its node anew; without an instance id nothing says that it is the same.
    """
    if node is None or node.uid == located.uid:
        return False
    return not node.instance_id or node.instance_id != located.instance_id


def is_called_off(node: Node | None, notice: Notice) -> bool:
    """Whether somebody has taken our mark off a node that lives on: they have changed their mind. A host that is taken
    is drained all the same."""
    return node is not None and not notice.takes_the_host and ANNOTATION_MARK not in node.annotations


def how_to_locate(
    notice: Notice, instance: Instance | None, *, was_asked: bool, cluster_name: str, node_name: str = ""
) -> Locate:
    """Names first (one small request each), a listing only where it may find what the names miss. `node_name`: where
    somebody has named the node itself.

    An instance without any cluster's tag is most likely no node at all: it costs no listing. Where EC2 could not be
    asked, or does not know it (any more), or its tags name our cluster, the listing is the truth.
    """
    if node_name:
        return Locate(notice.instance_id, (node_name,), may_list=False, is_by_name=True)
    if not was_asked:
        return Locate(notice.instance_id, (), may_list=True)
    if instance is None:
        return Locate(notice.instance_id, (notice.instance_id,), may_list=True)
    names = tuple(n for n in (instance.private_dns_name, notice.instance_id) if n)
    return Locate(notice.instance_id, names, may_list=not cluster_name or bool(instance.cluster_names))


def ending_without_a_node(instance: Instance | None, *, was_asked: bool, cluster_name: str) -> Ending:
    """What it means that the API server has no node of this instance."""
    if not was_asked:
        return Ending.NOT_OURS
    if instance is None or instance.state in ("shutting-down", "terminated"):
        return Ending.ALREADY_GONE
    return Ending.ALREADY_GONE if cluster_name in instance.cluster_names else Ending.NOT_OURS


def may_still_join(instance: Instance | None, cluster_name: str) -> bool:
    """Whether a node of ours may appear yet: a young instance is interrupted as any other."""
    return instance is not None and cluster_name in instance.cluster_names and instance.state in ("pending", "running")


def is_going(instance: Instance | None) -> bool:
    """Whether EC2 itself says that the instance is on its way out."""
    return instance is not None and (
        instance.state in ("shutting-down", "stopping") or instance.is_marked_for_termination
    )
