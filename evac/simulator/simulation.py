"""A small Kubernetes cluster in memory under a virtual clock.

Law: it has rules of its own, read from Kubernetes' sources; it knows the domain's values and none of its decisions, so
that what plans a drain and what judges it cannot be wrong together.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from evac.simulator.cluster import ControlPlane
from evac.simulator.faults import Faults
from evac.simulator.history import History
from evac.simulator.journal import Journal
from evac.simulator.loading import as_created, flattened, homeless, load, unknown_owners
from evac.simulator.objects import Key, Raw, copied, key_of, merged
from evac.simulator.options import SimulatorOptions
from evac.simulator.port import SimulatedCluster
from evac.simulator.quotas import Quotas
from evac.simulator.store import Store
from evac.simulator.timeline import Timeline
from evac.simulator.turns import Turns

T = TypeVar("T")
_DEFAULTS = SimulatorOptions()


class Simulation:
    """The cluster, its clock, what goes wrong in it, and what truly happened."""

    def __init__(self, objects: Iterable[Raw], now: datetime, *, options: SimulatorOptions = _DEFAULTS) -> None:
        self._timeline = Timeline(now)
        self._turns = Turns(self._timeline)
        self._options = options
        self.faults = Faults(self._timeline)
        self.journal = Journal(self._timeline)
        self._plane = ControlPlane(Store(self._timeline), self.journal, options)
        self._store = self._plane.store
        self._quotas = Quotas(self._store)
        self.history: History = self._plane.history
        self.notes = load(self._store, objects, now)
        self._plane.settle_budgets()
        self.unknown_owners = unknown_owners(self._store)
        self.notes += [
            f"{owner} is not in the scenario: its {n} pods are not replaced" for owner, n in self.unknown_owners.items()
        ]
        if lost := homeless(self._store):
            self.notes.append(f"{lost} pods are on nodes that the scenario does not hold: they neither start nor stop")

    @property
    def unknown_kinds(self) -> frozenset[str]:
        """The kinds of the controllers that pods name and the scenario does not hold."""
        return frozenset(owner.kind for owner in self.unknown_owners)

    @property
    def clock(self) -> Timeline:
        """The virtual clock, as a `Clock` port."""
        return self._timeline

    def cluster(self) -> SimulatedCluster:
        """A client of its own: one `Cluster` port."""
        return SimulatedCluster(self._plane.server, self.faults, self._options, self._turns.wait)

    def run_until(self, moment: datetime) -> None:
        """Let virtual time pass."""
        self._timeline.run_until(moment)

    def run_for(self, duration: timedelta) -> None:
        """Let virtual time pass."""
        self._timeline.run_until(self._timeline.now() + duration)

    def side_by_side(self, *calls: Callable[[], T]) -> list[T | None]:
        """Run several handlers, each with a client of its own, as if at the same time; None for one that was killed."""
        return self._turns.run(calls)

    def schedule(self, at: datetime, happening: Callable[[], object]) -> None:
        """Let something happen at `at`: a scale, a rollout, room for pods. What it raises comes out of the wait."""
        self._timeline.at(at, happening)

    # --- what an administrator does -----------------------------------------------------------------------------

    def apply(self, manifest: Raw) -> Raw:
        """Create the object, as an API server does: its status is its own, save a Node's.

        One that is there is merge-patched with the manifest instead (RFC 7386).
        """
        [raw] = flattened([manifest], [])
        key = key_of(raw)
        if self._store.get(key) is not None:
            return self.patch(key.kind, key.namespace, key.name, raw)
        load(self._store, [as_created(raw)], self._timeline.now())
        return self.get(*key) or {}

    def patch(self, kind: str, namespace: str, name: str, patch: Raw) -> Raw:
        """A JSON merge patch. Raises KeyError where there is no such object."""
        key = Key(kind, namespace, name)
        current = self._store.get(key)
        if current is None:
            raise KeyError(str(key))
        changed = merged(current, {k: v for k, v in patch.items() if k not in {"kind", "apiVersion"}})
        self._plane.write(changed)
        return self.get(*key) or {}

    def delete(self, kind: str, namespace: str, name: str, grace: timedelta | None = None) -> None:
        """Delete as kubectl does: pods gracefully, dependents in the background; nothing where there is none."""
        self._plane.delete(Key(kind, namespace, name), grace)

    def get(self, kind: str, namespace: str, name: str) -> Raw | None:
        """A copy of the object as the API shows it; `namespace` is empty for cluster-wide kinds."""
        found = self._store.get(Key(kind, namespace, name))
        return None if found is None else self._shown(found)

    def list(self, kind: str) -> list[Raw]:
        """Copies of all objects of a kind, oldest first."""
        return [self._shown(raw) for raw in self._store.of_kind(kind)]

    def _shown(self, raw: Raw) -> Raw:
        """A quota's status is worked out when somebody looks."""
        shown: Raw = copied(self._quotas.with_usage(raw) if raw["kind"] == "ResourceQuota" else raw)
        return shown

    def reclaim(self, node_name: str, at: datetime) -> None:
        """Take the host at `at`: its pods die there and then; the API learns of it when the Node object goes."""
        self._timeline.at(at, lambda: self._plane.take_host(node_name))
