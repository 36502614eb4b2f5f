"""What each namespace holds that may forbid a release, gathered once for all pods of one step."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lambdas.contract import LABEL_RELEASED, LABEL_TEMPLATE_HASH, RELEASED_PREFIX
from lambdas.domain.decisions.around import Around
from lambdas.domain.values.kubernetes import Budget, Pod
from lambdas.domain.values.observation import Listing, NamespaceView
from lambdas.domain.values.selectors import Selector
from lambdas.domain.values.workloads import Quota, Selecting


@dataclass(slots=True)
class Place:
    """What a namespace holds that may forbid a release.

    `unread`: cluster-wide kinds that could not be read. `by_hash`: Services and budgets that a change of the labels
    may move a pod out of. `charged`: what pods cost that are there beside their replacements, which a quota listed
    before has not counted.
    """

    view: NamespaceView
    by_hash: Sequence[tuple[str, Selector]] = ()
    unread: Sequence[str] = ()
    charged: Counter[str] = field(default_factory=Counter)
    _adopters: list[tuple[str, Selector]] | None = None
    _policies: list[tuple[str, Selector]] | None = None

    def charge(self, pod: Pod) -> None:
        """One more replacement is on its way."""
        self.charged.update(pod.cost)

    def has_room_for(self, pod: Pod) -> bool:
        """Whether every quota has room for one more replacement now."""
        return all(self.charged[n] + pod.cost.get(n, 0) <= left for _, n, left in self._limits(pod))

    def most_at_a_time(self, pod: Pod) -> int | None:
        """How many pods like this one may be doubled at a time by the quotas; None where they limit nothing."""
        return min((max(0, left) // pod.cost[n] for _, n, left in self._limits(pod)), default=None)

    def full_quota(self, pod: Pod) -> str:
        """A quota that has no room for a single replacement, and for want of what; empty where all have."""
        full = (
            f"{quota} has no room for its replacement ({n})"
            for quota, n, left in self._limits(pod)
            if left < pod.cost[n]
        )
        return next(full, "")

    def _limits(self, pod: Pod) -> Iterable[tuple[Quota, str, int]]:
        """What each quota that counts the pod leaves of what the pod costs."""
        for quota in self.view.quotas.items:
            if quota.counts(pod):
                yield from ((quota, name, left) for name, left in quota.left.items() if pod.cost.get(name, 0))

    def adopters(self) -> Sequence[tuple[str, Selector]]:
        """Controllers that may take an ownerless pod, save those that ask for a hash which no released pod has."""
        if self._adopters is None:
            sets = [(f"ReplicaSet {r.namespace}/{r.name}", r.selector) for r in self.view.replica_sets.items]
            others = [(str(o), o.selector) for o in self._selecting() if o.adopts]
            self._adopters = [(name, s) for name, s in (*sets, *others) if not _asks_for_another_hash(s)]
        return self._adopters

    def policies(self) -> Sequence[tuple[str, Selector]]:
        """NetworkPolicies that a change of the labels may move a pod out of, or into."""
        if self._policies is None:
            selectors = [
                (str(o), s) for o in self._selecting() if not o.adopts for s in (o.selector, *o.other_selectors)
            ]
            self._policies = [(name, s) for name, s in selectors if depends_on_release(s)]
        return self._policies

    def _selecting(self) -> Iterable[Selecting]:
        return (o for listing in self.view.selecting.values() for o in listing.items)


def depends_on_release(selector: Selector) -> bool:
    """Whether what a release changes of a pod's labels may change what the selector says of it."""
    return any(r.key in (LABEL_TEMPLATE_HASH, LABEL_RELEASED) for r in selector.requirements or ())


def _asks_for_another_hash(selector: Selector) -> bool:
    for r in selector.requirements or ():
        if r.key == LABEL_TEMPLATE_HASH and r.operator == "In":
            return not any(value.startswith(RELEASED_PREFIX) for value in r.values)
    return selector.requirements is None


def places(around: Around, budgets: Listing[Budget]) -> defaultdict[str, Place]:
    """By namespace; one that is not observed has nothing in it that was read."""
    by_hash: defaultdict[str, list[tuple[str, Selector]]] = defaultdict(list)
    for service in around.services.items:
        if depends_on_release(service.selector):
            by_hash[service.namespace].append((f"Service {service.namespace}/{service.name}", service.selector))
    for budget in budgets.items:
        if depends_on_release(budget.selector):
            by_hash[budget.ref.namespace].append((f"PodDisruptionBudget {budget.ref}", budget.selector))
    unread = [
        name
        for name, listing in (("services", around.services), ("poddisruptionbudgets", budgets))
        if not listing.freshness.is_read
    ]
    found = defaultdict(lambda: Place(NamespaceView()))
    for name, view in around.namespaces.items():
        found[name] = Place(view, by_hash[name], unread, Counter())
    return found
