"""What is patched of pods, and the listings that only a sweep asks for.

Law: a patch that is refused (422) though the pod, read again, asks for the very same one was refused by an admission
policy: that is Forbidden, and no reason to try again.
"""

from collections.abc import Callable
from typing import TypeVar

from lambdas.adapters.kubernetes import calls, guard, pod_patches
from lambdas.adapters.kubernetes.answers import result_of
from lambdas.adapters.kubernetes.calls import Response, Server
from lambdas.adapters.kubernetes.json_patch import Patch
from lambdas.adapters.kubernetes.kinds import MARKED_NODES, RELEASED_PODS, Kind
from lambdas.adapters.kubernetes.listing import Unlisted, list_all
from lambdas.adapters.kubernetes.watching import Watching
from lambdas.domain.values.actions import Release, TakeBack, TidyUp, Wake
from lambdas.domain.values.answers import Absent, Conflict, Done, Forbidden, Found, Refused, Result
from lambdas.domain.values.kubernetes import Pod, PodRef
from lambdas.domain.values.manifests import read_pod
from lambdas.domain.values.releases import released_hash

T = TypeVar("T")
Ask = Release | TakeBack | TidyUp | Wake

_TRIES = 4
_POLICIES = "validatingadmissionpolicies.admissionregistration.k8s.io"
_BINDINGS = "validatingadmissionpolicybindings.admissionregistration.k8s.io"


class Pods:
    """Acts on pods; any thread may."""

    def __init__(self, server: Server, watching: Watching) -> None:
        self._server = server
        self._watching = watching

    def release(self, ask: Release) -> Result:
        """By the pod as it was last seen. Raises BadName."""
        return self._patch(ask, self._watching.pod(ask.pod) or self._get(ask.pod))

    def change(self, ask: TakeBack | TidyUp | Wake) -> Result:
        """By the pod as it is now. Raises BadName."""
        return self._patch(ask, self._get(ask.pod))

    def _patch(self, ask: Ask, pod: Pod | Result) -> Result:
        """Build the patch and send it; again where somebody was faster."""
        answer: Result = Absent()
        for _ in range(_TRIES):
            operations = _patch_of(ask, pod) if isinstance(pod, Pod) else pod
            if not isinstance(operations, list):
                return operations
            if not operations:
                return Done()
            answer, is_untenable = self._send(ask.pod, operations)
            if not isinstance(answer, Conflict):
                return answer
            pod = self._get(ask.pod)
            if is_untenable and isinstance(pod, Pod) and _patch_of(ask, pod) == operations:
                return Forbidden(f"may not patch pods: an admission policy refuses it: {answer.message}")
        return answer

    def _get(self, ref: PodRef) -> Pod | Result:
        """That very pod; one that has come under its name is another."""
        call = calls.get_pod(ref)
        reply = self._server.ask(call)
        answer = result_of(call, reply)
        if not (isinstance(answer, Done) and isinstance(reply, Response)):
            return answer
        pod = read_pod(reply.body)
        return pod if pod.ref.uid == ref.uid else Absent()

    def _send(self, ref: PodRef, operations: Patch) -> tuple[Result, bool]:
        """Its answer, and whether that is a 422: a `test` failed, or a policy refuses what the pod would be."""
        call = calls.patch_pod(ref, operations)
        reply = self._server.ask(call)
        return result_of(call, reply), isinstance(reply, Response) and reply.status == 422

    def check_guard(self) -> Result:
        """Whether policy and binding say what ours say."""
        policy = self._read(_POLICIES)
        if not isinstance(policy, Response):
            return policy
        binding = self._read(_BINDINGS)
        if not isinstance(binding, Response):
            return binding
        difference = guard.what_differs(policy.body, binding.body)
        return Refused(difference) if difference else Done()

    def _read(self, resource: str) -> Response | Result:
        call = calls.get_guard(resource)
        reply = self._server.ask(call)
        answer = result_of(call, reply)
        return reply if isinstance(answer, Done) and isinstance(reply, Response) else answer

    def list_released(self) -> Result:
        """All pods with our label."""
        return self._found(RELEASED_PODS, lambda pods: Found(pods=pods))

    def list_marked(self) -> Result:
        """All nodes with our label."""
        return self._found(MARKED_NODES, lambda nodes: Found(nodes=nodes))

    def _found(self, kind: Kind[T], found: Callable[[tuple[T, ...]], Found]) -> Result:
        listed = list_all(self._server, kind)
        if isinstance(listed, Unlisted):
            return result_of(listed.call, listed.reply)
        return found(tuple(seen.value for seen in listed.objects if seen.value is not None))


def _patch_of(ask: Ask, pod: Pod) -> Patch | Result:
    match ask:
        case Release() if pod.is_owned_by_several:
            return Refused(f"{ask.pod} has several owners")
        case Release(hash=template_hash) if not released_hash(template_hash):
            return Refused(f"{template_hash!r} makes no label of a released pod")
        case Release() if not pod_patches.still_holds(pod, ask):
            return Conflict(f"{ask.pod} has changed")
        case Release():
            return pod_patches.release(pod, ask)
        case TakeBack():
            return pod_patches.take_back(pod)
        case TidyUp():
            return pod_patches.tidy_up(pod)
        case Wake(at=at):
            return pod_patches.wake(pod, at)
