"""What truly happened to each pod, at which virtual moment: for oracles, not for planners.

Law: moments are exact here, while the API shows whole seconds; what a dead host does is seen here at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from evac.simulator.objects import Key, Raw, controller_of, read_moment, uid_of
from evac.simulator.pods import condition_of, is_finished, is_ready, node_of, phase_of
from evac.simulator.store import Change
from evac.simulator.timeline import Timeline
from lambdas.domain.values.kubernetes import PodRef


class Hand(Enum):
    """By which way a pod got its SIGTERM."""

    EVICTED = "evicted"
    DELETED = "deleted"
    CONTROLLER = "deleted by its controller"
    COLLECTED = "collected with its owner or node"


@dataclass(slots=True)
class PodStory:
    """One pod's life. `grace`: what it had from `signalled_at` in the end; `was_cut_short`: it needed longer."""

    pod: PodRef
    created_at: datetime
    owner: Key | None = None
    node_name: str = ""
    ready_at: datetime | None = None
    finished_at: datetime | None = None
    signalled_at: datetime | None = None
    grace: timedelta | None = None
    hand: Hand | None = None
    had_disruption_target: bool = False
    was_cut_short: bool = False
    killed_at: datetime | None = None
    gone_at: datetime | None = None

    @property
    def was_graceful(self) -> bool:
        """It had its SIGTERM, and its whole shutdown or the whole grace it was given, before its host was taken."""
        return self.signalled_at is not None and self.gone_at is not None and self.killed_at is None


class Journal:
    """The stories of all pods there ever were, in the order in which they appeared."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._stories: dict[str, PodStory] = {}

    def __iter__(self) -> Iterator[PodStory]:
        return iter(self._stories.values())

    def of(self, uid: str) -> PodStory:
        """The story of one pod. Raises KeyError where there never was one."""
        return self._stories[uid]

    def on(self, node_name: str) -> list[PodStory]:
        """The stories of the pods that were ever bound to a node."""
        return [story for story in self if story.node_name == node_name]

    def named(self, namespace: str, name: str) -> list[PodStory]:
        """The stories of all pods that ever had this name (a StatefulSet's pods share theirs), oldest first."""
        return [story for story in self if (story.pod.namespace, story.pod.name) == (namespace, name)]

    def on_change(self, change: Change) -> None:
        """Take note of what the API server stored."""
        if change.key.kind != "Pod":
            return
        now = self._timeline.now()
        if change.new is None:
            story = self._stories[uid_of(change.old or {})]
            story.gone_at = story.gone_at or now
            return
        story = self._stories.get(uid_of(change.new)) or self._begin(change.new, now)
        self._follow(story, change.new, now)

    def _begin(self, pod: Raw, now: datetime) -> PodStory:
        owner, metadata = controller_of(pod), pod["metadata"]
        namespace = metadata.get("namespace") or "default"
        said = read_moment(metadata.get("creationTimestamp"))
        story = PodStory(
            pod=PodRef(namespace, metadata["name"], uid_of(pod)),
            created_at=said if said and said + timedelta(seconds=1) < now else now,
            owner=Key(owner["kind"], namespace, owner["name"]) if owner else None,
        )
        return self._stories.setdefault(story.pod.uid, story)

    def _follow(self, story: PodStory, pod: Raw, now: datetime) -> None:
        story.node_name = node_of(pod)
        if story.ready_at is None and is_ready(pod):
            story.ready_at = now
        if story.finished_at is None and is_finished(pod) and story.killed_at is None:
            story.finished_at = now
        if not story.had_disruption_target and condition_of(pod, "DisruptionTarget"):
            story.had_disruption_target = True

    def signalled(self, pod: Raw, grace: int, hand: Hand) -> None:
        """Its SIGTERM was asked for, or its grace shortened."""
        story = self._stories[uid_of(pod)]
        story.grace = timedelta(seconds=grace)
        if story.signalled_at is None and story.killed_at is None:
            story.signalled_at, story.hand = self._timeline.now(), hand

    def cut_short(self, uid: str) -> None:
        """Its grace ended before its shutdown did: SIGKILL."""
        self._stories[uid].was_cut_short = True

    def host_taken(self, pod: Raw) -> None:
        """Its host was taken while it ran, shut down, or started."""
        story = self._stories[uid_of(pod)]
        if phase_of(pod) not in {"Succeeded", "Failed"}:
            story.killed_at = self._timeline.now()
