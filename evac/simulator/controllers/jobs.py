"""Jobs: pods until enough have succeeded, a failed or evicted one replaced after its back-off.

Rules: pkg/controller/job. Not simulated: activeDeadlineSeconds, backoffLimitPerIndex, successPolicy, the time to live
after the end.
"""

from datetime import datetime

from evac.simulator.controllers.adoption import Adoption
from evac.simulator.controllers.creation import generated_name, pod_of
from evac.simulator.controllers.job_indexes import index_of, indexed, write_indexes
from evac.simulator.controllers.job_tally import Tally, is_indexed, replaces_failed_only
from evac.simulator.controllers.reconciler import Reconciler
from evac.simulator.deletions import Deletions
from evac.simulator.journal import Hand
from evac.simulator.objects import Key, Raw, controller_of, revised, spec_of, status_of, uid_of, written_time
from evac.simulator.options import SimulatorOptions
from evac.simulator.pods import condition_of, is_active, is_ready, is_terminating, phase_of, with_condition
from evac.simulator.selections import Selections
from evac.simulator.store import Change, Store

_DEFAULT_LIMIT = 6


class Jobs(Reconciler):
    """Completions, parallelism and failures."""

    def __init__(self, store: Store, selections: Selections, deletions: Deletions, options: SimulatorOptions) -> None:
        super().__init__(store, options.latencies.controllers)
        self._adoption = Adoption(store, selections)
        self._deletions = deletions
        self._tallies: dict[str, Tally] = {}

    def on_change(self, change: Change) -> None:
        """Itself, and the owner of a changed pod; a pod that goes is counted while it can still be read."""
        if change.key.kind == "Job" and change.new is not None:
            if change.old is None:
                self._tallies[uid_of(change.new)] = Tally.of(change.new)
            self.enqueue(change.key)
        elif change.key.kind == "Pod":
            self._follow(change.new or change.old or {"metadata": {}}, change)

    def _follow(self, pod: Raw, change: Change) -> None:
        owner = controller_of(pod)
        if owner and owner["kind"] == "Job":
            key = Key("Job", change.key.namespace, owner["name"])
            job = self.store.get(key)
            if job is not None:
                self._tallies[uid_of(job)].see(job, pod, self.timeline.now(), was_there=change.old is not None)
            self.enqueue(key)
        elif owner is None:
            for key in self._adoption.adopters(pod):
                if key.kind == "Job":
                    self.enqueue(key)

    def reconcile(self, key: Key) -> None:
        """Adopt; then fail, complete, or bring the number of active pods to what is wanted."""
        job = self.store.get(key)
        if job is None or _is_over(job) or job["metadata"].get("deletionTimestamp"):
            return
        self._adoption.adopt_all(job, key)
        tally = self._tallies[uid_of(job)]
        pods = list(self.store.owned_by(uid_of(job)))
        active = [pod for pod in pods if is_active(pod)]
        limit = spec_of(job).get("backoffLimit")
        if tally.failed > (_DEFAULT_LIMIT if limit is None else limit):
            tally.fails_because = tally.fails_because or "BackoffLimitExceeded"
        if tally.fails_because or spec_of(job).get("suspend"):
            self._delete(active)
        else:
            self._manage(key, job, tally, pods)
        self._write_status(key, tally)

    def _delete(self, pods: list[Raw]) -> None:
        for pod in pods:
            self._deletions.ask(pod, None, Hand.CONTROLLER)

    def _manage(self, key: Key, job: Raw, tally: Tally, pods: list[Raw]) -> None:
        active = [pod for pod in pods if is_active(pod)]
        held = [p for p in pods if is_terminating(p) and phase_of(p) not in {"Succeeded", "Failed"}]
        held = held if replaces_failed_only(job) else []
        wanted = _wanted(job, tally, len(active))
        if len(active) > wanted:
            self._delete(sorted(active, key=is_ready)[: len(active) - wanted])
            return
        missing = wanted - len(active) - len(held)
        wait = tally.wait(self.timeline.now())
        if missing > 0 and wait:
            self.enqueue(key, after=wait)
        elif missing > 0:
            self._create(job, tally, [*active, *held], missing)

    def _create(self, job: Raw, tally: Tally, present: list[Raw], missing: int) -> None:
        name, template = job["metadata"]["name"], spec_of(job).get("template") or {}
        if not is_indexed(job):
            for _ in range(missing):
                self.store.put(pod_of(job, template, generated_name(self.store, job, f"{name}-")))
            return
        taken = tally.indexes | {i for pod in present if (i := index_of(pod)) is not None}
        free = [i for i in range(spec_of(job).get("completions") or 0) if i not in taken]
        for index in free[:missing]:
            self.store.put(indexed(pod_of(job, template, generated_name(self.store, job, f"{name}-{index}-")), index))

    def _write_status(self, key: Key, tally: Tally) -> None:
        job = self.store.get(key)
        if job is None:
            return
        pods = list(self.store.owned_by(uid_of(job)))
        active = [pod for pod in pods if is_active(pod)]
        now = self.timeline.now()
        status = {
            "startTime": status_of(job).get("startTime") or written_time(now),
            "active": len(active) or None,
            "ready": sum(map(is_ready, active)),
            "terminating": sum(is_terminating(pod) for pod in pods),
            "succeeded": tally.completed,
            "failed": tally.failed or None,
            "completedIndexes": write_indexes(tally.indexes) or None,
        }
        ended = _ended(revised(job, status=status), tally, len(pods) - _counted(pods, tally), now)
        if ended["status"] != job.get("status"):
            self.store.put(ended)


def _counted(pods: list[Raw], tally: Tally) -> int:
    return sum(uid_of(pod) in tally.counted for pod in pods)


def _ended(job: Raw, tally: Tally, uncounted: int, now: datetime) -> Raw:
    """The Job with its last condition, once no pod of it is to be counted any more."""
    completions = spec_of(job).get("completions")
    is_complete = tally.completed >= (1 if completions is None else completions)
    if uncounted or not (tally.fails_because or is_complete):
        return job
    if tally.fails_because:
        return with_condition(job, "Failed", "True", now, reason=tally.fails_because)
    told = revised(job, status={"completionTime": written_time(now)})
    return with_condition(told, "Complete", "True", now, reason="CompletionsReached")


def _is_over(job: Raw) -> bool:
    return any((condition_of(job, kind) or {}).get("status") == "True" for kind in ("Complete", "Failed"))


def _wanted(job: Raw, tally: Tally, active: int) -> int:
    """How many pods should be active. A Job without completions starts no more once one has succeeded."""
    spec = spec_of(job)
    given = spec.get("parallelism")
    parallelism: int = 1 if given is None else given
    completions: int | None = spec.get("completions")
    if completions is None:
        return active if tally.completed else parallelism
    return max(min(completions - tally.completed, parallelism), 0)
