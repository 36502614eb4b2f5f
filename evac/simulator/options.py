"""What the simulated cluster takes for granted unless a pod's annotation says otherwise."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long requests take from being sent to being answered, and how long a change takes to be seen.

    The defaults were measured on a real control plane (Kubernetes 1.37, one machine). A request takes effect half-way
    through; an eviction of a pod that a budget guards, at four fifths.
    """

    get: timedelta = timedelta(milliseconds=4)
    list: timedelta = timedelta(milliseconds=8)
    patch: timedelta = timedelta(milliseconds=6)
    delete: timedelta = timedelta(milliseconds=6)
    create: timedelta = timedelta(milliseconds=6)
    evict: timedelta = timedelta(milliseconds=11)
    watch: timedelta = timedelta(milliseconds=5)
    """From a change to its event at a client."""
    controllers: timedelta = timedelta(milliseconds=5)
    """From a change to what a controller, the scheduler or a kubelet makes of it."""


@dataclass(frozen=True, slots=True)
class SimulatorOptions:
    """`startup`: placed on a node → Ready. `shutdown`: SIGTERM → gone, capped by the deletion's grace.

    `pods_created_per_second` and `pods_created_in_burst`: kube-controller-manager's client limits, one for each of its
    controllers (--kube-api-qps, --kube-api-burst). `node_removed_after`: from the host's end to its Node object's (the
    cloud controller); None leaves it there. `orphans_collected_after`: from there to the end of the pods bound to it
    (a real pod collector takes 40–60 s more). `connections`: requests of one kind
    that one client has under way at once; an eviction can hang in the server, and nothing else stands behind it.
    `admits_ownerless`: False where an admission policy refuses whoever takes a pod's owner away.
    """

    startup: timedelta = timedelta(seconds=10)
    shutdown: timedelta = timedelta(seconds=2)
    latencies: Latencies = Latencies()
    pods_created_per_second: float = 20
    pods_created_in_burst: int = 30
    node_removed_after: timedelta | None = timedelta(seconds=30)
    orphans_collected_after: timedelta = timedelta(0)
    connections: int = 16
    admits_ownerless: bool = True
    read_timeout: timedelta = timedelta(seconds=13)
    poll_every: timedelta = timedelta(seconds=2)
    """How often a client lists what it cannot watch."""
    ask_again_every: timedelta = timedelta(seconds=10)
    """How often a client tries to list what it may not."""
