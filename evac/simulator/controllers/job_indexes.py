"""The completion indexes of an Indexed Job's pods, and how its status writes those that succeeded ("0-2,5")."""

from evac.simulator.objects import Raw, annotations_of, labels_of, revised

_INDEX = "batch.kubernetes.io/job-completion-index"


def index_of(pod: Raw) -> int | None:
    """The pod's completion index; None for a pod that has none."""
    text = annotations_of(pod).get(_INDEX, "")
    return int(text) if text.isdecimal() else None


def indexed(pod: Raw, index: int) -> Raw:
    """The pod, told its index by annotation and label."""
    told = {_INDEX: str(index)}
    return revised(pod, metadata={"annotations": {**annotations_of(pod), **told}, "labels": {**labels_of(pod), **told}})


def read_indexes(text: str) -> set[int]:
    """The indexes of `completedIndexes`; what cannot be read is left out."""
    indexes: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            indexes.update(range(int(first), int(last or first) + 1))
    return indexes


def write_indexes(indexes: set[int]) -> str:
    """The same, written as the Job controller does: neighbours as a range."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] == index - 1:
            runs[-1][-1:] = [runs[-1][-1], index] if len(runs[-1]) == 1 else [index]
        else:
            runs.append([index])
    return ",".join("-".join(map(str, run)) for run in runs)
