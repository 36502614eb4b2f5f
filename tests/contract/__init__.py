"""What every implementation of a port owes, as tests that take the implementation as a fixture."""

import pytest

_PARTS = """
background_contract budgets directory_contract evictions finding kubelets ledger_contract messages_contract namespaces
nodes other_owners released releases releasing replica_sets returning scheduling steps waiting watching workloads
"""
pytest.register_assert_rewrite(*(f"{__name__}.{part}" for part in _PARTS.split()))
