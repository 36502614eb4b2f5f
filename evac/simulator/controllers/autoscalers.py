"""HorizontalPodAutoscalers, for a load that is constant in total and spreads over the Ready pods.

Rules: pkg/controller/podautoscaler. The pods that it counts are those of the scale's selector, so released ones too;
what each of them uses it knows from its look before (metrics are that old, or older; a pod without any is taken to use
nothing where it scales up, its whole target where it scales down), and of what it found in the scale-down window it
takes the most. Simulated only where the HPA says by `replay.spot-evac.dev/load: "12"` how many
pods the load would keep at their target. Not simulated: scaling policies beyond the default ones, several metrics.
"""

from datetime import datetime, timedelta
from math import ceil

from evac.simulator.controllers.availability import replicas_of
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.durations import LOAD
from evac.simulator.objects import Key, Raw, annotations_of, revised, spec_of, uid_of
from evac.simulator.pods import is_active, is_ready
from evac.simulator.selections import Selections
from evac.simulator.store import Change, Store

_KIND = "HorizontalPodAutoscaler"
_PERIOD = timedelta(seconds=15)
_DEFAULT_WINDOW = 300
_TOLERANCE = 0.1
_MOST_MORE = 4
"""A step up adds this many pods or doubles them, whichever is more (the default scale-up policies)."""


class Autoscalers(Reconciler):
    """Each looks every 15 s."""

    def __init__(self, store: Store, selections: Selections, delay: timedelta) -> None:
        super().__init__(store, delay)
        self._selections = selections
        self._usage: dict[Key, tuple[float, frozenset[str]]] = {}
        """What each pod used at the last look, as a share of its target; and which pods those were."""
        self._found: dict[Key, list[tuple[datetime, int]]] = {}
        """What each look within the window found."""

    def on_change(self, change: Change) -> None:
        """A new HPA begins to look."""
        if change.key.kind == _KIND and change.old is None:
            self.enqueue(change.key)

    def reconcile(self, key: Key) -> None:
        """One look, and the next in 15 s."""
        autoscaler = self.store.get(key)
        load = _load_of(autoscaler) if autoscaler else None
        if autoscaler is None or load is None:
            return
        target = self._target(autoscaler, key.namespace)
        if target is not None and replicas_of(target) > 0:
            self._look_at(key, autoscaler, target, load)
        self.enqueue(key, after=_PERIOD)

    def _target(self, autoscaler: Raw, namespace: str) -> Raw | None:
        named = spec_of(autoscaler).get("scaleTargetRef") or {}
        return self.store.get(Key(named.get("kind") or "", namespace, named.get("name") or ""))

    def _look_at(self, key: Key, autoscaler: Raw, target: Raw, load: float) -> None:
        named = Key(target["kind"], key.namespace, target["metadata"]["name"])
        pods = [pod for pod in self._selections.pods_of(named) if is_active(pod)]
        ready = frozenset(uid_of(pod) for pod in pods if is_ready(pod))
        usage, metered = self._usage.get(key, (1.0, ready))
        if ready:
            self._usage[key] = load / len(ready), ready
        current = replicas_of(target)
        found = _found(usage, len(ready & metered), len(ready - metered), len(pods) - len(ready), current)
        wanted = self._stabilized(key, autoscaler, current, _bounded(found, autoscaler))
        if wanted != current:
            self.store.put(revised(target, spec={"replicas": wanted}))

    def _stabilized(self, key: Key, autoscaler: Raw, current: int, found: int) -> int:
        """Up at once, by so many a step; down to the most that was found within the window."""
        now = self.timeline.now()
        since = now - _window_of(autoscaler)
        within = [(m, n) for m, n in self._found.get(key, [(now, current)]) if m >= since]
        self._found[key] = [*within, (now, found)]
        if found > current:
            return min(found, max(current + _MOST_MORE, 2 * current))
        return min(current, max(n for _, n in self._found[key]))


def _found(usage: float, metered: int, unmetered: int, unready: int, current: int) -> int:
    """The replicas that would bring each pod to its target (GetResourceReplicas); unready ones matter on the way up.

    Where all are metered, more pods than replicas are taken for replicas: with a surplus it may turn the other way.
    """
    is_up = usage > 1
    used = usage * metered + (0 if is_up else unmetered)
    pods = metered + unmetered + (unready if is_up else 0)
    share = used / pods if pods else 1.0
    found = ceil(round(used, 6))
    if abs(1 - share) <= _TOLERANCE:
        return current
    if pods == metered:
        return found
    turns = (share > 1) is not is_up or (found < current if is_up else found > current)
    return current if turns else found


def _load_of(autoscaler: Raw) -> float | None:
    try:
        return float(annotations_of(autoscaler)[LOAD])
    except (KeyError, ValueError):
        return None


def _window_of(autoscaler: Raw) -> timedelta:
    given = ((spec_of(autoscaler).get("behavior") or {}).get("scaleDown") or {}).get("stabilizationWindowSeconds")
    return timedelta(seconds=_DEFAULT_WINDOW if given is None else given)


def _bounded(replicas: int, autoscaler: Raw) -> int:
    spec = spec_of(autoscaler)
    return max(spec.get("minReplicas") or 1, min(replicas, spec.get("maxReplicas") or replicas))
