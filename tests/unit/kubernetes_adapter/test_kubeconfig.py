"""Kubeconfigs that give an identity, and those that do not; no text holds a secret."""

import json
import stat
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from evac.errors import InputError
from evac.kubeconfig import cluster_of
from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import calls
from lambdas.adapters.kubernetes.calls import Failure, Response, Trouble
from tests.unit.kubernetes_adapter.tls import HttpsServer, https_server, replies

CLOCK = SystemClock()
SECRET = "s3cr3t"
GET = calls.get_node("spot-a")


def kubeconfig(folder: Path, user: dict[str, Any], server: str = "https://127.0.0.1:1", ca: str = "") -> str:
    authority = folder / "ca.crt"
    authority.write_text(ca)
    cluster = {"server": server, **({"certificate-authority": str(authority)} if ca else {})}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "prod",
    }
    path = folder / "config"
    path.write_text(json.dumps(config))
    return str(path)


def plugin(folder: Path, *lines: str) -> dict[str, Any]:
    """A user whose token a command prints."""
    script = folder / "plugin"
    script.write_text("\n".join([f"#!{sys.executable}", *lines]))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never"}}


def prints(folder: Path, status: str) -> dict[str, Any]:
    kind = '"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"'
    return plugin(folder, f"print('''{{{kind}, \"status\": {status}}}''')")


def problem(path: str, context: str | None = None) -> InputError:
    with pytest.raises(InputError) as raised:
        cluster_of(path, context, CLOCK).close()
    chain: BaseException | None = raised.value
    while chain is not None:
        assert SECRET not in f"{chain!r} {chain}"
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
    assert raised.value.cure
    return raised.value


def sent_by(server: HttpsServer, path: str) -> list[str]:
    cluster = cluster_of(path, None, CLOCK)
    reply = cluster.server.ask(GET)
    cluster.close()
    assert isinstance(reply, Response)
    return [headers.get("Authorization", "") for _, _, headers in server.asked]


def test_a_token_is_sent(tmp_path: Path) -> None:
    with https_server(tmp_path, replies(200, "{}")) as server:
        path = kubeconfig(tmp_path, {"token": SECRET}, server.url, server.ca)
        assert sent_by(server, path) == [f"Bearer {SECRET}"]


def test_a_plugins_token_is_sent(tmp_path: Path) -> None:
    with https_server(tmp_path, replies(200, "{}")) as server:
        path = kubeconfig(tmp_path, prints(tmp_path, f'{{"token": "{SECRET}"}}'), server.url, server.ca)
        assert sent_by(server, path) == [f"Bearer {SECRET}"]


def test_a_token_file_is_read_again_when_its_token_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")

    def answer(to: BaseHTTPRequestHandler) -> None:
        is_old = to.headers["Authorization"] == "Bearer old"
        token.write_text("new")
        replies(401 if is_old else 200, "{}")(to)

    with https_server(tmp_path, answer) as server:
        path = kubeconfig(tmp_path, {"tokenFile": str(token)}, server.url, server.ca)
        assert sent_by(server, path) == ["Bearer old", "Bearer new"]


def test_a_plugin_that_fails_after_a_401_is_named_in_the_answer(tmp_path: Path) -> None:
    flag = tmp_path / "ran"
    status = f'{{"token": "{SECRET}"}}'
    user = prints(tmp_path, status)
    script = Path(user["exec"]["command"])
    first, *rest = script.read_text().splitlines()
    again = f"import os, sys; os.path.exists({str(flag)!r}) and sys.exit('session expired'); open({str(flag)!r}, 'w')"
    script.write_text("\n".join([first, again, *rest]))
    with https_server(tmp_path, replies(401, "{}")) as server:
        cluster = cluster_of(kubeconfig(tmp_path, user, server.url, server.ca), None, CLOCK)
        reply = cluster.server.ask(GET)
        cluster.close()
    assert isinstance(reply, Failure)
    assert reply.trouble is Trouble.NO_TOKEN
    assert "session expired" in reply.message
    assert SECRET not in reply.message


def test_a_plugin_that_fails_is_an_error_with_its_own_words(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, plugin(tmp_path, "import sys; sys.exit('Unable to locate credentials')"))
    error = problem(path)
    assert "Unable to locate credentials" in error.message
    assert "by hand" in error.cure


@pytest.mark.parametrize("status", ["{}", f'{{"clientCertificateData": "{SECRET}"}}', "null"])
def test_a_plugin_that_prints_no_token_is_an_error(status: str, tmp_path: Path) -> None:
    assert "gives no identity" in problem(kubeconfig(tmp_path, prints(tmp_path, status))).message


def test_a_user_without_anything_is_nobody(tmp_path: Path) -> None:
    assert "gives no identity" in problem(kubeconfig(tmp_path, {})).message


def test_a_password_is_no_identity(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"username": "admin", "password": SECRET})
    assert "passwords are no identity" in problem(path).message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "nowhere")
    assert str(problem(path)).startswith(f"{path}: ")


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    error = problem(kubeconfig(tmp_path, {"token": SECRET}), "staging")
    assert "staging" in error.message
    assert error.place.endswith("config [staging]")


def test_a_file_that_is_no_yaml_is_told_by_line_without_what_stands_there(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(f"users:\n- name: u\n  user: {{token: {SECRET}: }}: [\n")
    assert "at line 3" in problem(str(path)).message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "clusters: 7",
        f"current-context: a\nusers: [{{token: {SECRET}}}]",
        f"current-context: a\ncontexts: [{{name: a, context: {{cluster: c}}, token: {SECRET}}}]",
        f"current-context: a\ncontexts: [{{name: a, token: {SECRET}}}]",
        "clusters: [{}]\ncontexts: [{}]\ncurrent-context: x",
    ],
)
def test_a_file_that_is_no_kubeconfig_is_told_without_what_stands_in_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    assert problem(str(path)).place == str(path)


def test_an_authority_that_is_no_certificate_is_told(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": SECRET}, ca="no PEM")
    assert "certificate authority" in problem(path).message
