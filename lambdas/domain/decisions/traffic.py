"""When external load balancers should stop sending to the node."""

from collections.abc import Collection, Iterable

from lambdas.domain.decisions.filters import Verdict, judge
from lambdas.domain.values.kubernetes import Pod, PodRef, Service
from lambdas.domain.values.observation import Listing


def serves_locally(pods: Iterable[Pod], services: Listing[Service], signalled: Collection[PodRef]) -> bool:
    """Whether traffic that only this node's own pods may answer still has a pod here that is going to leave.

    A Service with `externalTrafficPolicy: Local` is answered by the node's own endpoints only: taking the node out of
    the load balancer before the last of them has its SIGTERM would take serving pods out with it. Pods that stay to
    the end anyway (DaemonSets) are nobody to wait for.
    """
    selectors = [(s.namespace, s.selector) for s in services.items if s.is_local]
    return any(
        namespace == pod.ref.namespace and selector.matches(pod.labels)
        for pod in pods
        if pod.ready and pod.ref not in signalled and judge(pod).verdict is Verdict.DRAIN
        for namespace, selector in selectors
    )
