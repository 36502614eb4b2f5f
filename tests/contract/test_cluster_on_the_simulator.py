"""The simulator keeps the `Cluster` port's contract."""

from tests.contract.cluster_contract import *  # noqa: F403 - all of its tests
