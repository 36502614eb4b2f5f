"""The ports other than `Cluster`, in memory: what replay uses, and what tests use where AWS is not the point.

Law: each is held to the contract tests of its real counterpart. Setting `error` lets every call raise it, as when the
service is away.
"""

from evac.memory.background import InlineBackground
from evac.memory.directory import MemoryDirectory
from evac.memory.ledger import MemoryLedger
from evac.memory.messages import MemoryLease, MemoryMalformed
from evac.memory.replacements import MemoryReplacements
from evac.memory.reporter import CollectingReporter

__all__ = [
    "CollectingReporter",
    "InlineBackground",
    "MemoryDirectory",
    "MemoryLease",
    "MemoryLedger",
    "MemoryMalformed",
    "MemoryReplacements",
]
