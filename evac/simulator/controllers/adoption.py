"""Who owns a pod: ownerless ones are adopted by a controller whose selector matches, others let go of.

Rules: pkg/controller/controller_ref_manager.go. Law: where several may adopt a pod, the first of them does; a real
cluster leaves that to a race.
"""

from evac.simulator.objects import Key, Raw, controller_of, controller_reference, revised
from evac.simulator.pods import is_active
from evac.simulator.selections import ADOPTING, Selections
from evac.simulator.store import Store


class Adoption:
    """Whom a controller may adopt."""

    def __init__(self, store: Store, selections: Selections) -> None:
        self._store = store
        self._selections = selections

    def adopters(self, pod: Raw) -> list[Key]:
        """The controllers that would adopt an ownerless pod, those that keep replicas first."""
        keys = (key for key in self._selections.over(pod) if key.kind in ADOPTING)
        return sorted(keys, key=lambda key: (ADOPTING.index(key.kind), key))

    def orphans_for(self, key: Key) -> list[Raw]:
        """The ownerless pods that it, first of those who may, adopts."""
        ownerless = [pod for pod in self._selections.pods_of(key) if controller_of(pod) is None]
        return [pod for pod in ownerless if is_active(pod) and self.adopters(pod)[:1] == [key]]

    def adopt_all(self, owner: Raw, key: Key) -> None:
        """Adopt them, all at once."""
        for pod in self.orphans_for(key):
            self._store.put(claimed(pod, owner))


def claimed(pod: Raw, owner: Raw) -> Raw:
    """The pod with `owner` for its controller; without one, where it had one."""
    references = [r for r in pod["metadata"].get("ownerReferences") or () if not r.get("controller")]
    if controller_of(pod) is None:
        references.append(controller_reference(owner))
    return revised(pod, metadata={"ownerReferences": references or None})
