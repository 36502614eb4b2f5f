"""What a tool finds around it in one run."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.beside.aws import Account
from bench.beside.fates import RECLAIM
from bench.beside.processes import Processes
from bench.beside.scenarios import Scenario
from controlplane import Api, ControlPlane


@dataclass(slots=True)
class World:
    """One control plane and one account. `server`: the address a tool is to use; it may have faults.

    `instances`: the EC2 instance of each node. `called_at`: when each invocation's handler was called, in seconds, its
    process having started.
    """

    scenario: Scenario
    plane: ControlPlane
    api: Api
    account: Account
    instances: Mapping[str, str]
    server: str
    processes: Processes
    noticed_at: float = 0.0
    called_at: list[float] = field(default_factory=list)

    def seconds(self) -> float:
        """Since the notice."""
        return time.time() - self.noticed_at

    def is_over(self) -> bool:
        """Whether the hosts are taken."""
        return self.seconds() >= RECLAIM
