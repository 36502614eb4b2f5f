"""A faithful small Kubernetes cluster in memory, under a virtual clock.

Law: it never knows the domain's decisions. See `Simulation`.
"""

from evac.simulator.faults import Fault, Faults
from evac.simulator.history import History
from evac.simulator.journal import Hand, Journal, PodStory
from evac.simulator.objects import Key, Raw
from evac.simulator.options import Latencies, SimulatorOptions
from evac.simulator.port import SimulatedCluster
from evac.simulator.simulation import Simulation
from evac.simulator.turns import Killed

__all__ = [
    "Fault",
    "Faults",
    "Hand",
    "History",
    "Journal",
    "Key",
    "Killed",
    "Latencies",
    "PodStory",
    "Raw",
    "SimulatedCluster",
    "Simulation",
    "SimulatorOptions",
]
