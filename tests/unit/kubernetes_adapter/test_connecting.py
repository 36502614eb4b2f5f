"""What connecting costs, and what it says when it cannot."""

import subprocess
import sys

import pytest

from lambdas.adapters.clock import SystemClock
from lambdas.adapters.kubernetes import Endpoint, connect
from lambdas.domain.errors import PermissionDenied


class Tokens:
    def token(self) -> str:
        return "token"

    def renew(self) -> str:
        return "token"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import lambdas.adapters.kubernetes", "False False False"),
        ("import evac.kubeconfig, evac.rbac", "False False False"),
        ("from lambdas.adapters.kubernetes import preload; preload()", "True True True"),
    ],
)
def test_the_heavy_packages_are_loaded_when_they_are_asked_for(code: str, expected: str) -> None:
    heavy = "print(*(name in sys.modules for name in ('kubernetes', 'urllib3', 'ssl')))"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; {heavy}"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == expected


def test_an_authority_that_is_no_certificate_is_told_as_such() -> None:
    with pytest.raises(PermissionDenied, match="certificate authority"):
        connect(Endpoint("https://127.0.0.1:1", "no PEM"), Tokens(), SystemClock())


def test_connecting_asks_nothing() -> None:
    cluster = connect(Endpoint("https://127.0.0.1:1"), Tokens(), SystemClock())
    assert sum(cluster.server.sent.values()) == 0
    cluster.close()
