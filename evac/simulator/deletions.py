"""What the API server makes of the deletion of a pod, whoever asks for it.

Rules: graceful deletion in pkg/registry/core/pod/strategy.go and apiserver's rest.BeforeDelete.
"""

from datetime import datetime, timedelta

from evac.simulator.journal import Hand, Journal
from evac.simulator.objects import Raw, key_of, revised, seconds, written_time
from evac.simulator.pods import grace_of, is_finished, is_terminating, node_of
from evac.simulator.store import Store
from lambdas.domain.values.actions import Delete, Evict


def sent_grace(action: Evict | Delete, pod: Raw) -> int:
    """The grace that a client of ours sends: what the action gives, never more than the pod's own, never 0."""
    return min(seconds(action.grace), max(1, grace_of(pod)))  # int64: a timedelta may not hold it


class Deletions:
    """Pods on their way out."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal

    def ask(self, pod: Raw, grace: int | None, hand: Hand) -> None:
        """Delete with `grace` seconds (the pod's own where None). One that is on its way already is only hurried."""
        if is_terminating(pod):
            self._hurry(pod, grace, hand)
            return
        given = grace_of(pod) if grace is None else grace
        if not node_of(pod) or is_finished(pod):
            given = 0
        self._journal.signalled(pod, given, hand)
        self._mark(pod, self._store.timeline.now(), given)

    def _hurry(self, pod: Raw, grace: int | None, hand: Hand) -> None:
        """A deletion's grace may only be shortened; it still counts from the first signal."""
        former = pod["metadata"].get("deletionGracePeriodSeconds") or 0
        if grace is None or grace >= former:
            return
        ends = datetime.fromisoformat(pod["metadata"]["deletionTimestamp"])
        self._journal.signalled(pod, grace, hand)
        self._mark(pod, ends - timedelta(seconds=former), grace)

    def _mark(self, pod: Raw, signalled_at: datetime, grace: int) -> None:
        ends = written_time(signalled_at + timedelta(seconds=grace))
        marked = revised(pod, metadata={"deletionTimestamp": ends, "deletionGracePeriodSeconds": grace})
        if grace == 0:
            self.finish(marked)
        else:
            self._store.put(marked)

    def finish(self, pod: Raw) -> None:
        """Nothing runs any more: the object goes, unless finalizers keep it."""
        if pod["metadata"].get("finalizers"):
            since = pod["metadata"].get("deletionTimestamp") or written_time(self._store.timeline.now())
            kept = {"deletionGracePeriodSeconds": 0, "deletionTimestamp": since}
            self._store.put(revised(pod, metadata=kept))
        else:
            self._store.remove(key_of(pod))
