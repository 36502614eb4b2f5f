"""The contract of the `Cluster` port: every test of its parts, under one name.

A module that has a `world` fixture of its own takes them all with `from tests.contract.cluster_contract import *`.
"""

from tests.contract import (
    budgets,
    evictions,
    finding,
    kubelets,
    namespaces,
    nodes,
    other_owners,
    released,
    releasing,
    replica_sets,
    returning,
    scheduling,
    waiting,
    watching,
)

_PARTS = (
    budgets,
    evictions,
    finding,
    kubelets,
    namespaces,
    nodes,
    other_owners,
    released,
    releasing,
    replica_sets,
    returning,
    scheduling,
    waiting,
    watching,
)
_TESTS = {
    name: test for part in _PARTS for name, test in vars(part).items() if name.startswith("test_") and callable(test)
}

globals().update(_TESTS)
__all__ = list(_TESTS)
