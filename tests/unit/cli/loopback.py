"""An API server's lists, its nodes and their patches on loopback: what `undo` and a dry run ask for, over real HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jsonpatch

from evac.scenario.kinds import ALSO_USED, KINDS
from tests.scenes import Json

_PATHS = {kind.list_path: kind for kind in (*KINDS, *ALSO_USED)}


class Api:
    """Objects, and what was asked: `refused` are paths that answer with a status of their own."""

    def __init__(self, objects: list[Json]) -> None:
        self.objects = objects
        self.refused: dict[str, int] = {}
        self.asked: list[tuple[str, str]] = []

    def node(self, name: str) -> Json | None:
        return next((o for o in self.objects if o["kind"] == "Node" and o["metadata"]["name"] == name), None)

    def answer(self, method: str, target: str, body: str) -> tuple[int, Json]:
        """Status and JSON."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        self.asked.append((method, path))
        if path in self.refused:
            return self.refused[path], _status(self.refused[path])
        if path in _PATHS:
            return 200, self._list(path, query)
        node = self.node(path.removeprefix("/api/v1/nodes/"))
        if node is None:
            return 404, _status(404, name=path.rpartition("/")[2])
        if method == "PATCH":
            changed = jsonpatch.apply_patch(node, body)
            self.objects[self.objects.index(node)] = node = changed
        return 200, node

    def _list(self, path: str, query: dict[str, list[str]]) -> Json:
        """Two objects a page, so that pages are turned; items without their kind, as the server prints them."""
        kind = _PATHS[path]
        [label] = query.get("labelSelector", [""])
        found = [o for o in self.objects if o["kind"] == kind.name]
        chosen = [o for o in found if not label or label in o["metadata"].get("labels", {})]
        at = int(query.get("continue", ["0"])[0])
        items = [{k: v for k, v in o.items() if k not in {"kind", "apiVersion"}} for o in chosen[at : at + 2]]
        token = str(at + 2) if at + 2 < len(chosen) else ""
        return {
            "kind": f"{kind.name}List",
            "apiVersion": kind.api_version,
            "metadata": {"continue": token},
            "items": items,
        }


def _status(code: int, name: str = "") -> Json:
    reason = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound"}.get(code, "InternalError")
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "code": code,
        "reason": reason,
        "message": reason,
        "details": {"name": name},
    }


@contextmanager
def served(api: Api, folder: Path) -> Iterator[str]:
    """The API on a port of its own, and a kubeconfig that leads there."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = api.answer(self.command, self.path, self._body())
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_PATCH = do_POST = do_GET  # noqa: N815 - the base class looks them up by these names

        def _body(self) -> str:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield _kubeconfig(folder, server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _kubeconfig(folder: Path, port: int) -> str:
    path = folder / "kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "users": [{"name": "me", "user": {}}],
    }
    path.write_text(json.dumps(config))
    return str(path)
