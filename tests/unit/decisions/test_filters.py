"""Which pods leave, and why the others do not."""

from dataclasses import replace

import pytest

from lambdas.domain.decisions.filters import Verdict, judge, why_let_finish
from lambdas.domain.values.kubernetes import Pod
from tests.unit.builders import pod, terminating


@pytest.mark.parametrize(
    ("case", "verdict", "reason"),
    [
        (pod(), Verdict.DRAIN, ""),
        (pod(owner=None), Verdict.DRAIN, ""),
        (pod(phase="Succeeded"), Verdict.SKIP, "finished (Succeeded)"),
        (pod(phase="Failed", owner="DaemonSet"), Verdict.SKIP, "finished (Failed)"),
        (pod(is_mirror=True), Verdict.SKIP, "static pod"),
        (pod(owner="Node"), Verdict.SKIP, "static pod"),
        (pod(owner="DaemonSet"), Verdict.SKIP, "DaemonSet pod"),
        (pod(owner="DaemonSet", deletion=terminating(0)), Verdict.SKIP, "DaemonSet pod"),
        (pod(deletion=terminating(0)), Verdict.AWAIT, "already terminating"),
        (pod(phase="Pending", ready=False), Verdict.DRAIN, ""),
    ],
)
def test_the_first_filter_that_applies_decides_and_says_why(case: Pod, verdict: Verdict, reason: str) -> None:
    judgement = judge(case)
    assert judgement.verdict is verdict
    assert judgement.reason.startswith(reason)


@pytest.mark.parametrize(
    ("annotations", "owner", "is_left"),
    [
        ({}, "ReplicaSet", False),
        ({}, "Job", True),
        ({"karpenter.sh/do-not-disrupt": "true"}, "ReplicaSet", True),
        ({"karpenter.sh/do-not-disrupt": "false"}, "ReplicaSet", False),
        ({"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, None, True),
        ({"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}, None, False),
        ({"spot-evac.dev/let-finish": "true"}, "StatefulSet", True),
    ],
)
def test_jobs_and_pods_that_ask_for_it_are_left_to_finish(
    annotations: dict[str, str], owner: str | None, *, is_left: bool
) -> None:
    assert bool(why_let_finish(replace(pod(owner=owner), annotations=annotations))) is is_left
