"""A Job's podFailurePolicy: what a pod's failure means for the Job.

Rule: the first rule that matches decides (pkg/controller/job/pod_failure_policy.go); without one a failure counts.
"""

from typing import Any

from evac.simulator.objects import Raw, spec_of, status_of
from evac.simulator.pods import condition_of


def action_for(job: Raw, pod: Raw) -> str:
    """Ignore, FailJob or Count."""
    for rule in (spec_of(job).get("podFailurePolicy") or {}).get("rules") or ():
        if _matches(rule, pod):
            return str(rule.get("action") or "Count")
    return "Count"


def _matches(rule: dict[str, Any], pod: Raw) -> bool:
    for pattern in rule.get("onPodConditions") or ():
        condition = condition_of(pod, pattern["type"])
        if condition is not None and condition.get("status") == (pattern.get("status") or "True"):
            return True
    return "onExitCodes" in rule and any(_exits(rule["onExitCodes"], c) for c in _containers(pod))


def _containers(pod: Raw) -> list[Raw]:
    status = status_of(pod)
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _exits(requirement: dict[str, Any], container: Raw) -> bool:
    code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode")
    if not code or requirement.get("containerName") not in {None, container.get("name")}:
        return False
    return bool((code in requirement["values"]) == (requirement.get("operator") == "In"))
