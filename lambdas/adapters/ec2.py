"""EC2's view of instances: whose they are, and whether they are still there.

Law: one call for a whole batch, and an unknown id fails nobody's look-up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from lambdas.adapters import aws_errors, chunks
from lambdas.domain.values.notices import Instance

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import InstanceTypeDef, TagTypeDef

_MOST_FILTER_VALUES: Final = 200
"""EC2 API, filters: at most 200 values each."""

_CLUSTER_NAME_TAGS: Final = frozenset({"aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name"})
"""Set by EKS on managed nodes (the first two) and by Karpenter (the last)."""

_OWNED_PREFIX: Final = "kubernetes.io/cluster/"


class Ec2InstanceDirectory:
    """An `InstanceDirectory` on DescribeInstances.

    `is_marked_for_termination` stays False: only the spot request knows, and DescribeSpotInstanceRequests would be
    another right and another call; from the reclaim on the state itself says shutting-down.
    """

    def __init__(self, client: "EC2Client", page_size: int = _MOST_FILTER_VALUES) -> None:
        self._client = client
        self._page_size = page_size

    def describe(self, instance_ids: Iterable[str]) -> Mapping[str, Instance]:
        """Those that EC2 knows. By filter: an unknown id among `InstanceIds` would fail the call for all."""
        known = {}
        for ids in chunks(sorted(set(instance_ids)), _MOST_FILTER_VALUES):
            for item in self._pages(ids):
                instance = _read(item)
                known[instance.instance_id] = instance
        return known

    def _pages(self, ids: list[str]) -> "Iterator[InstanceTypeDef]":
        with aws_errors("ec2:DescribeInstances", "instances"):
            pages = self._client.get_paginator("describe_instances").paginate(
                Filters=[{"Name": "instance-id", "Values": ids}], PaginationConfig={"PageSize": self._page_size}
            )
            for page in pages:
                for reservation in page["Reservations"]:
                    yield from reservation["Instances"]


def _read(item: "InstanceTypeDef") -> Instance:
    """A private DNS name is empty once the instance terminates."""
    return Instance(
        instance_id=item["InstanceId"],
        state=item["State"]["Name"],
        private_dns_name=item.get("PrivateDnsName") or "",
        cluster_names=frozenset(_cluster_names(item.get("Tags") or [])),
    )


def _cluster_names(tags: "Iterable[TagTypeDef]") -> Iterator[str]:
    for tag in tags:
        key = tag.get("Key", "")
        if key.startswith(_OWNED_PREFIX):
            yield key.removeprefix(_OWNED_PREFIX)
        elif key in _CLUSTER_NAME_TAGS and tag.get("Value"):
            yield tag["Value"]
