"""The control plane that other tests stand on does what they take for granted."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from controlplane import Api, BuildError, ControlPlane, Identity, StartError, provide, until, versions
from controlplane.client import Client

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
PODS = "/api/v1/namespaces/shop/pods"
WEB = {"matchLabels": {"app": "web"}}
HANDLER_USER = "arn:aws:sts::123456789012:assumed-role/evac/session"

Object = dict[str, Any]


def node(name: str, pods: int = 110) -> Object:
    room = {"cpu": "8", "memory": "32Gi", "pods": str(pods)}
    metadata = {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}}
    return {"kind": "Node", "metadata": metadata, "status": {"capacity": room, "allocatable": room}}


def template(grace: int = 30, **times: str) -> Object:
    annotations = {f"replay.spot-evac.dev/{step}": value for step, value in times.items()}
    spec = {"terminationGracePeriodSeconds": grace, "containers": [{"name": "app", "image": "app"}]}
    return {"metadata": {"labels": {"app": "web"}, "annotations": annotations}, "spec": spec}


def pod(name: str, grace: int = 30, **times: str) -> Object:
    made = template(grace, **times)
    return {"kind": "Pod", **made, "metadata": {"name": name, "namespace": "shop", **made["metadata"]}}


def deployment(replicas: int) -> Object:
    spec = {"replicas": replicas, "selector": WEB, "template": template(startup="200ms")}
    return {"kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def budget(**spec: int) -> Object:
    metadata = {"name": "web", "namespace": "shop"}
    return {"kind": "PodDisruptionBudget", "metadata": metadata, "spec": {"selector": WEB, **spec}}


def budget_status(api: Api) -> Object:
    """The status of the budget, empty as long as its controller has not looked."""
    status: Object = api.items("PodDisruptionBudget", "shop")[0].get("status", {})
    return status


def condition(of: Object, kind: str) -> str:
    return next((c["status"] for c in of["status"].get("conditions", []) if c["type"] == kind), "")


def phase_of(api: Api, name: str) -> str:
    phase: str = api.get(f"{PODS}/{name}")[1].get("status", {}).get("phase", "")
    return phase


def seconds_until(holds: Callable[[], object]) -> float:
    began = time.monotonic()
    until(holds)
    return time.monotonic() - began


def running(api: Api, manifest: Object) -> str:
    """The path of the pod, once it runs."""
    name = api.apply(manifest)["metadata"]["name"]
    until(lambda: phase_of(api, name) == "Running", what=f"{name} running")
    return f"{PODS}/{name}"


def evict(api: Api, pod: Object) -> tuple[int, Object]:
    name = pod["metadata"]["name"]
    return api.post(f"{PODS}/{name}/eviction", {"metadata": {"name": name, "namespace": "shop"}})


@pytest.fixture
def shop(api: Api) -> Api:
    """A namespace, and a node with room for three pods."""
    api.apply({"kind": "Namespace", "metadata": {"name": "shop"}})
    api.apply(node("spot-a", pods=3))
    return api


@pytest.fixture
def web(shop: Api) -> list[Object]:
    """Three Ready pods of a Deployment, with no room for a fourth."""
    shop.apply(deployment(3))
    until(lambda: shop.items("Deployment", "shop")[0]["status"].get("readyReplicas") == 3, what="3 ready")
    return shop.items("Pod", "shop")


def test_it_starts_in_seconds(plane: ControlPlane, capsys: pytest.CaptureFixture[str]) -> None:
    memory = {name: f"{size / 2**20:.0f} MiB" for name, size in plane.memory().items()}
    with capsys.disabled():
        seconds = plane.startup.total_seconds()
        sys.stderr.write(f"\ncontrol plane {plane.version} up in {seconds:.1f} s: {memory}\n")
    assert set(memory) == {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}
    assert plane.startup < timedelta(seconds=90)


def test_the_server_is_of_the_version_asked_for(plane: ControlPlane, api: Api) -> None:
    status, version = api.get("/version")
    assert status == 200
    assert version["gitVersion"].startswith(f"v{plane.version}.")
    assert f"{version['major']}.{version['minor']}" == plane.version


def test_kubectl_is_there_and_a_kubeconfig_lets_it_in(plane: ControlPlane, shop: Api) -> None:
    command = [str(provide(plane.version) / "kubectl"), "--kubeconfig", str(plane.kubeconfig())]
    answer = subprocess.check_output([*command, "get", "nodes", "--output", "name"], text=True)
    assert answer == "node/spot-a\n"


def test_pods_of_a_deployment_become_ready_on_a_fake_node(web: list[Object], shop: Api) -> None:
    assert [(p["spec"]["nodeName"], condition(p, "Ready")) for p in web] == [("spot-a", "True")] * 3


def test_a_budget_has_its_status_computed(web: list[Object], shop: Api) -> None:
    shop.apply(budget(minAvailable=2))
    until(lambda: budget_status(shop).get("currentHealthy") == 3)
    status = budget_status(shop)
    assert (status["expectedPods"], status["desiredHealthy"], status["disruptionsAllowed"]) == (3, 2, 1)


def test_a_budget_lets_one_eviction_through_and_refuses_the_next(web: list[Object], shop: Api) -> None:
    shop.apply(budget(maxUnavailable=1))
    until(lambda: budget_status(shop).get("disruptionsAllowed") == 1)
    assert evict(shop, web[0])[0] == 201
    status, refusal = evict(shop, web[1])
    assert status == 429
    assert [c["reason"] for c in refusal["details"]["causes"]] == ["DisruptionBudget"]


def test_a_pod_takes_its_time_to_start(shop: Api) -> None:
    assert 2.4 < seconds_until(lambda: running(shop, pod("slow", startup="2500ms"))) < 6
    found = shop.items("Pod", "shop")[0]
    assert condition(found, "Ready") == "True"
    assert found["status"]["podIP"].startswith("10.200.")


def test_a_pod_takes_its_time_to_shut_down(shop: Api) -> None:
    path = running(shop, pod("slow", startup="10ms", shutdown="2500ms"))
    assert shop.delete(path)[0] == 200
    assert 2.4 < seconds_until(lambda: shop.get(path)[0] == 404) < 6


def test_the_grace_period_caps_a_shutdown(shop: Api) -> None:
    path = running(shop, pod("stubborn", grace=1, startup="10ms", shutdown="1m"))
    shop.delete(path)
    assert 0.9 < seconds_until(lambda: shop.get(path)[0] == 404) < 4


def test_a_shorter_grace_period_shortens_a_shutdown_that_has_begun(shop: Api) -> None:
    path = running(shop, pod("stubborn", grace=60, startup="10ms", shutdown="1m"))
    shop.delete(path)
    shop.delete(path, {"gracePeriodSeconds": 1})
    assert seconds_until(lambda: shop.get(path)[0] == 404) < 4


def test_a_pod_ends_by_itself_once_it_has_been_ready_long_enough(shop: Api) -> None:
    path = running(shop, pod("task", startup="10ms", completes="2s"))
    shop.patch(path, {"metadata": {"annotations": {"note": "an update does not restart the time"}}})
    assert 1.5 < seconds_until(lambda: phase_of(shop, "task") == "Succeeded") < 5


def test_a_pod_can_run_without_ever_being_ready(shop: Api) -> None:
    running(shop, pod("sick", startup="10ms", ready="false", completes="10ms"))
    found = shop.items("Pod", "shop")[0]
    assert condition(found, "Ready") == "False"
    assert found["status"]["phase"] == "Running"


def test_a_job_that_ignores_disruptions_replaces_an_evicted_pod(shop: Api) -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    work = template(startup="10ms", shutdown="10ms")
    work["spec"]["restartPolicy"] = "Never"
    spec = {"backoffLimit": 0, "podFailurePolicy": {"rules": [rule]}, "template": work}
    shop.apply({"kind": "Job", "metadata": {"name": "report", "namespace": "shop"}, "spec": spec})
    first = until(lambda: shop.items("Pod", "shop", "fieldSelector=status.phase=Running"))[0]
    assert evict(shop, first)[0] == 201
    others = f"fieldSelector=metadata.name!={first['metadata']['name']}"
    until(lambda: shop.items("Pod", "shop", others), what="its replacement")
    assert not shop.items("Job", "shop")[0]["status"].get("failed")


def test_who_has_no_rights_is_refused(plane: ControlPlane, shop: Api) -> None:
    handler = Api(plane, "handler")
    status, refusal = handler.get(PODS)
    handler.close()
    assert status == 403
    assert f'User "{HANDLER_USER}" cannot list resource "pods"' in refusal["message"]


def test_groups_count_for_rights(plane: ControlPlane, shop: Api) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    shop.apply({"kind": "ClusterRole", "metadata": {"name": "reads-pods"}, "rules": rules})
    group = "rbac.authorization.k8s.io"
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "reads-pods"}
    subjects = [{"apiGroup": group, "kind": "Group", "name": "spot-evac:handlers"}]
    binding = {"kind": "ClusterRoleBinding", "metadata": {"name": "reads-pods"}}
    shop.apply({**binding, "roleRef": role, "subjects": subjects})
    handler = Api(plane, "handler")
    until(lambda: handler.get(PODS)[0] == 200, what="the right to list pods")
    assert handler.get("/api/v1/nodes")[0] == 403
    handler.close()


def test_a_wrong_token_is_nobody(plane: ControlPlane) -> None:
    stranger = Client(plane.url, plane.ca_file, "no-such-token")
    assert stranger.get(PODS)[0] == 401
    stranger.close()


def test_requests_are_counted_by_who_made_them(plane: ControlPlane, shop: Api) -> None:
    before = len(plane.requests(HANDLER_USER))
    handler = Api(plane, "handler")
    handler.get(f"{PODS}/web-1")
    handler.post(f"{PODS}/web-1/eviction", {})
    handler.close()
    asked = plane.requests(HANDLER_USER)[before:]
    assert [(r.verb, r.resource, r.subresource, r.name, r.code) for r in asked] == [
        ("get", "pods", "", "web-1", 403),
        ("create", "pods", "eviction", "web-1", 403),
    ]
    assert {r.user_agent for r in asked} == {"control-plane-client"}


def test_the_api_server_can_go_away_and_come_back_with_its_data(plane: ControlPlane, shop: Api) -> None:
    path = running(shop, pod("survivor", startup="10ms"))
    plane.stop_process("kube-apiserver")
    with pytest.raises(ConnectionRefusedError):
        shop.get(path)
    plane.start_process("kube-apiserver")
    assert shop.get(path)[0] == 200
    plane.check()


def test_what_a_test_took_away_is_restored(plane: ControlPlane, shop: Api) -> None:
    plane.stop_process("kube-apiserver")
    plane.freeze_process("kube-scheduler")
    os.kill(plane.pids()["kwok"], signal.SIGKILL)
    until(lambda: _dead(plane), what="kwok found dead")
    plane.restore()
    plane.check()
    running(shop, pod("placed-and-started", startup="10ms"))


def test_the_api_server_can_hang(plane: ControlPlane) -> None:
    impatient = Client(plane.url, plane.ca_file, plane.token(), timeout=0.3)
    plane.freeze_process("kube-apiserver")
    try:
        with pytest.raises(TimeoutError):
            impatient.get("/version")
    finally:
        plane.thaw_process("kube-apiserver")
    assert until(lambda: impatient.get("/version"))[0] == 200
    impatient.close()


def test_applying_again_replaces(shop: Api) -> None:
    first = shop.apply(pod("one"))
    second = shop.apply(shop.get(f"{PODS}/one")[1])
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def test_a_wiped_cluster_is_empty(web: list[Object], shop: Api) -> None:
    shop.apply(budget(minAvailable=3))
    shop.apply(pod("elsewhere") | {"metadata": {"name": "elsewhere", "namespace": "kube-system"}})
    shop.patch(f"{PODS}/{web[0]['metadata']['name']}", {"metadata": {"finalizers": ["test/never-removed"]}})
    shop.wipe()
    assert shop.items("Pod") + shop.items("Node") + shop.items("ReplicaSet") == []
    left = {n["metadata"]["name"] for n in shop.items("Namespace")}
    assert left == {"default", "kube-node-lease", "kube-public", "kube-system"}
    shop.apply({"kind": "Namespace", "metadata": {"name": "shop"}})
    assert shop.items("PodDisruptionBudget", "shop") == []


def test_what_is_waited_for_in_vain_is_named() -> None:
    with pytest.raises(TimeoutError, match=r"not within 0.01 s: pigs fly; seen last: 0"):
        until(lambda: 0, timedelta(seconds=0.01), "pigs fly")


def test_nothing_outlives_a_parent_that_is_killed(plane: ControlPlane, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "controlplane", "up", "--version", plane.version]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        kubeconfig = json.loads(Path(parent.stdout.readline().strip()).read_text())
        cluster = kubeconfig["clusters"][0]["cluster"]
        token = kubeconfig["users"][0]["user"]["token"]
        other = Client(cluster["server"], Path(cluster["certificate-authority"]), token)
        assert other.get("/version")[0] == 200
        parent.send_signal(signal.SIGKILL)
    until(lambda: _refused(other), what="its API server gone")
    other.close()


def _dead(plane: ControlPlane) -> bool:
    try:
        plane.check()
    except StartError as error:
        return "kwok ended (-9)" in str(error)
    return False


def _refused(client: Client) -> bool:
    try:
        client.get("/version")
    except ConnectionRefusedError:
        return True
    return False


def test_a_folder_without_the_binaries_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVAC_CONTROL_PLANE_BIN", str(tmp_path))
    with pytest.raises(BuildError, match=r"which lacks etcd, kube-apiserver.*unset EVAC_CONTROL_PLANE_BIN"):
        provide()


def test_a_version_without_pins_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVAC_CONTROL_PLANE_BIN", raising=False)
    with pytest.raises(BuildError, match=rf"no pins for Kubernetes 1.2; there are: {', '.join(versions())}"):
        provide("1.2")


def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.delenv("EVAC_CONTROL_PLANE_BIN", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(BuildError, match=r"cannot write .*set XDG_CACHE_HOME"):
        provide()


def test_two_identities_of_one_name_are_refused(tmp_path: Path) -> None:
    twins = [Identity("handler", "one"), Identity("handler", "other")]
    with pytest.raises(ValueError, match="two identities of one name"):
        ControlPlane(identities=twins, folder=tmp_path).__enter__()
