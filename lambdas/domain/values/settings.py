"""What can be set for a drain, with the defaults and their reasons."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one deployment.

    `margin`: kept free before reclaim, for the kubelet's and the API's own delays.
    `grace_counted`: at most this much of a controlled pod's grace counts towards its last safe moment (the pod still
    gets all that is left): with 115 s and more that moment would be the notice itself.
    `deletes_at_last_safe_moment`: off, a pod held by its budget is left to die with the host, and named.
    `paces_budgets`: a budget that would keep pods to their last safe moment is exceeded by the least beforehand; off,
    it is strict until then. Nothing is exceeded where `deletes_at_last_safe_moment` is off.
    `cluster_name`: an instance whose tags name other clusters only is not ours; empty takes any.
    """

    margin: timedelta = timedelta(seconds=5)
    grace_counted: timedelta = timedelta(seconds=60)
    deletes_at_last_safe_moment: bool = True
    paces_budgets: bool = True
    cluster_name: str = ""
