"""A metrics API for HorizontalPodAutoscalers: a constant load in all, spread evenly over the Ready pods.

The API server's aggregation layer finds it by a Service of type ExternalName, which needs no address in the cluster.
"""

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from controlplane import Api, ControlPlane
from tests.cluster.drains import is_ready

Json = dict[str, Any]

_VERSION = "metrics.k8s.io/v1beta1"
_SERVICES = "/api/v1/namespaces/kube-system/services"
_API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
_NAME = "v1beta1.metrics.k8s.io"
_PODS = re.compile(r"/namespaces/([^/]+)/pods$")


@contextmanager
def metrics_api(plane: ControlPlane, api: Api, load: int) -> Iterator[list[datetime]]:
    """Serves `load` millicores, all the pods together that are asked about; the moments at which it was asked."""
    asked: list[datetime] = []
    server = _Server(api, load, asked)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(plane.ca_file.with_name("server.crt"), plane.ca_file.with_name("server.key"))
    server.socket = trust.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        _register(api, server.server_address[1])
        yield asked
    finally:
        api.delete(f"{_API_SERVICES}/{_NAME}")
        api.delete(f"{_SERVICES}/metrics")
        server.shutdown()
        server.server_close()
        thread.join()


def _register(api: Api, port: int) -> None:
    service: Json = {"metadata": {"name": "metrics"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    spec: Json = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "service": {"namespace": "kube-system", "name": "metrics", "port": port},
        "insecureSkipTLSVerify": True,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    api.post(_SERVICES, service)
    api.post(_API_SERVICES, {"metadata": {"name": _NAME}, "spec": spec})

    def is_available() -> bool:
        conditions = api.get(f"{_API_SERVICES}/{_NAME}")[1].get("status", {}).get("conditions", ())
        return any(c["type"] == "Available" and c["status"] == "True" for c in conditions)

    api.until(is_available, what="the metrics API available")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: Api, load: int, asked: list[datetime]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api, self.load, self.asked = api, load, asked


class _Handler(BaseHTTPRequestHandler):
    """The two answers that the API server and the HPA controller ask for."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """The resources there are; the metrics of the pods of a namespace and a selector."""
        address = urlsplit(self.path)
        found = _PODS.search(address.path)
        selector = parse_qs(address.query).get("labelSelector", [""])[0]
        body = json.dumps(self._pods(found[1], selector) if found else _RESOURCES).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nothing: pytest's output is for tests."""

    def _pods(self, namespace: str, selector: str) -> Json:
        now = datetime.now(UTC)
        self.server.asked.append(now)
        pods = [p for p in self.server.api.items("Pod", namespace, f"labelSelector={selector}") if is_ready(p)]
        usage = {"cpu": f"{self.server.load * 1_000_000 // max(1, len(pods))}n", "memory": "1Mi"}
        items = [
            {
                "metadata": {"name": p["metadata"]["name"], "namespace": namespace, "labels": p["metadata"]["labels"]},
                "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "window": "1s",  # a pod's first minutes count from its first whole window on
                "containers": [{"name": "c", "usage": usage}],
            }
            for p in pods
        ]
        return {"kind": "PodMetricsList", "apiVersion": _VERSION, "metadata": {}, "items": items}


_RESOURCES: Json = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": _VERSION,
    "resources": [
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}
    ],
}
