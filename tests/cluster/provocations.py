"""Each answer of the facts table, provoked on a real API server: the call, and the reply as it is."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from controlplane import Api, ControlPlane
from lambdas.adapters.kubernetes import bodies, calls
from lambdas.adapters.kubernetes.calls import Call, Reply, Server
from lambdas.domain.values.kubernetes import PodRef
from tests.cluster.rig import Tokens, connected, running
from tests.scenes import bare, budget, node, times

Provoked = tuple[Call, Reply]
Provocation = Callable[[ControlPlane, Api, Server], Provoked]

NOBODYS = "11111111-1111-1111-1111-111111111111"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
GRACE = timedelta(seconds=5)


def _evict(pod: PodRef) -> Call:
    return calls.evict(pod, bodies.eviction(pod, GRACE))


def _delete(pod: PodRef) -> Call:
    return calls.delete_pod(pod, bodies.deletion(pod, GRACE))


def _asked(server: Server, call: Call) -> Provoked:
    return call, server.ask(call)


def _guarded(api: Api, name: str, wanted: Mapping[str, Any], **spec: Any) -> None:
    """A budget over the pods of an app, once its status holds what is wanted."""
    api.apply(budget(name, {"app": "web"}, **spec))
    path = f"{BUDGETS}/{name}"
    api.until(lambda: wanted.items() <= api.get(path)[1].get("status", {}).items(), what=f"{name}: {wanted}")


def evicted(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """201."""
    return _asked(server, _evict(running(api, "web", "spot-a")))


def evicted_again(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """201 on a pod that is terminating already."""
    pod = running(api, "web", "spot-a", grace=60, annotations={"replay.spot-evac.dev/shutdown": "60s"})
    server.ask(_evict(pod))
    return _asked(server, _evict(pod))


def deleted(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """200 with the pod."""
    return _asked(server, _delete(running(api, "web", "spot-a")))


def held_by_numbers(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """429: the budget needs as many as there are."""
    pod = running(api, "web", "spot-a")
    api.apply({**budget("web", {"app": "web"}, minAvailable=1)})
    api.until(lambda: api.get(f"{BUDGETS}/web")[1].get("status", {}).get("currentHealthy") == 1, what="counted")
    return _asked(server, _evict(pod))


def held_by_none_allowed(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """429: the budget allows none, and the pod's owner has no scale."""
    pod = running(api, "web", "spot-a")
    _guarded(api, "web", {"observedGeneration": 1}, maxUnavailable=0)
    return _asked(server, _evict(pod))


def held_by_an_unobserved_budget(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """429 with Retry-After: nobody has counted for the new budget yet."""
    pod = running(api, "web", "spot-a")
    plane.stop_process("kube-controller-manager")
    api.apply(budget("web", {"app": "web"}, maxUnavailable=1))
    return _asked(server, _evict(pod))


def held_by_too_many_pending(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """403 with a cause of the budget: over 2,000 disrupted pods that nobody has confirmed."""
    pod = running(api, "web", "spot-a")
    _guarded(api, "web", {"observedGeneration": 1}, maxUnavailable=0)
    plane.stop_process("kube-controller-manager")
    disrupted = {f"pod-{number}": "2026-11-02T03:04:05Z" for number in range(2001)}
    status = {"status": {"disruptionsAllowed": 1, "disruptedPods": disrupted}}
    assert api.patch(f"{BUDGETS}/web/status", status)[0] == 200
    return _asked(server, _evict(pod))


def under_several_budgets(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """500."""
    pod = running(api, "web", "spot-a")
    for name in ("one", "two"):
        _guarded(api, name, {"observedGeneration": 1}, maxUnavailable=1)
    return _asked(server, _evict(pod))


def evicting_who_is_not_there(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """404."""
    return _asked(server, _evict(PodRef("default", "nobody", NOBODYS)))


def evicting_in_no_namespace(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """404: the namespace is not there either."""
    return _asked(server, _evict(PodRef("nowhere", "nobody", NOBODYS)))


def evicting_in_a_namespace_that_is_going(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """403 with a cause of its own."""
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}})
    api.apply(node("spot-a"))
    pod = bare("web", "spot-a", grace=60, annotations=times(shutdown=60))
    made = api.apply({**pod, "metadata": {**pod["metadata"], "namespace": "going"}})
    assert api.delete("/api/v1/namespaces/going")[0] == 200
    return _asked(server, _evict(PodRef("going", "web", made["metadata"]["uid"])))


def evicting_another_incarnation(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """409 on the UID."""
    return _asked(server, _evict(replace(running(api, "web", "spot-a"), uid=NOBODYS)))


def deleting_another_incarnation(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """409 on the UID."""
    return _asked(server, _delete(replace(running(api, "web", "spot-a"), uid=NOBODYS)))


def evicting_another_incarnation_behind_a_budget(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """429: the budget is asked before the UID."""
    call, _ = held_by_none_allowed(plane, api, server)
    body = {**call.body, "deleteOptions": {"preconditions": {"uid": NOBODYS}}}
    return _asked(server, replace(call, body=body))


def evicting_by_another_name(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """400: the body's name is not the URL's."""
    call = _evict(running(api, "web", "spot-a"))
    return _asked(server, replace(call, body={**call.body, "metadata": {"name": "other", "namespace": "default"}}))


def evicting_in_another_namespace(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """400: the body's namespace is not the URL's."""
    call = _evict(running(api, "web", "spot-a"))
    return _asked(server, replace(call, body={**call.body, "metadata": {"name": "web", "namespace": "other"}}))


def without_the_right(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """403 of RBAC: `server` is the function's, and nothing has been granted to it."""
    return _asked(server, _evict(running(api, "web", "spot-a")))


def against_a_policy(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """403 of an admission policy. It outlives its object by a moment, so it is about one pod that no other test has."""
    pod = running(api, "guarded", "spot-a")
    for manifest in _policy():
        api.apply(manifest)
    call = _evict(pod)
    # A policy takes effect when the server has compiled it; a pod's second eviction is a dry run of the first.
    dry = {**call.body, "deleteOptions": {"dryRun": ["All"]}}
    query = {"dryRun": "All"}
    api.until(lambda: _status(server, replace(call, body=dry, query=query)) not in (200, 201), what="the policy")
    return _asked(server, call)


def _status(server: Server, call: Call) -> object:
    return getattr(server.ask(call), "status", None)


def _policy() -> list[dict[str, Any]]:
    group = "admissionregistration.k8s.io/v1"
    resources = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-evictions"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [resources]},
            "validations": [
                {"expression": "object.metadata.name != 'guarded'", "message": "it stays", "reason": "Forbidden"}
            ],
        },
    }
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-evictions"},
        "spec": {"policyName": "no-evictions", "validationActions": ["Deny"]},
    }
    return [policy, binding]


def as_nobody_known(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """401: a token that the server does not know."""
    with connected(plane, tokens=Tokens("unknown")) as stranger:
        return _asked(stranger.server, calls.get_node("spot-a"))


def with_a_path_that_is_none(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """404 of a resource that the server has not: nothing is gone, somebody is wrong."""
    return _asked(server, replace(calls.get_node("spot-a"), path="/apis/policy/v0/nodes/spot-a"))


def patching_against_a_test(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """422: a test in the patch failed."""
    api.apply(node("spot-a"))
    return _asked(server, calls.patch_node("spot-a", [{"op": "test", "path": "/metadata/uid", "value": NOBODYS}]))


def patching_into_what_is_invalid(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """422: the same taint twice."""
    api.apply(node("spot-a"))
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    return _asked(server, calls.patch_node("spot-a", [{"op": "add", "path": "/spec/taints", "value": [taint, taint]}]))


def patching_what_is_not_there(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """404."""
    return _asked(server, calls.patch_node("nobody", []))


def getting_a_node(plane: ControlPlane, api: Api, server: Server) -> Provoked:
    """200."""
    api.apply(node("spot-a"))
    return _asked(server, calls.get_node("spot-a"))


ALL: tuple[Provocation, ...] = (
    evicted,
    evicted_again,
    deleted,
    held_by_numbers,
    held_by_none_allowed,
    held_by_an_unobserved_budget,
    held_by_too_many_pending,
    under_several_budgets,
    evicting_who_is_not_there,
    evicting_in_no_namespace,
    evicting_in_a_namespace_that_is_going,
    evicting_another_incarnation,
    deleting_another_incarnation,
    evicting_another_incarnation_behind_a_budget,
    evicting_by_another_name,
    evicting_in_another_namespace,
    against_a_policy,
    as_nobody_known,
    with_a_path_that_is_none,
    patching_against_a_test,
    patching_into_what_is_invalid,
    patching_what_is_not_there,
)
"""Those whose replies are kept for the unit tests (record.py)."""
