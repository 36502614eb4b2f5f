"""An HTTPS server on loopback that answers as a test wants, under an authority as old EKS clusters have it."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class HttpsServer:
    """What it is asked is kept: method, path and headers of each request."""

    ca: str
    answer: Answer
    url: str = ""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    connections: int = 0


@contextmanager
def https_server(folder: Path, answer: Answer, host: str = "127.0.0.1") -> Iterator[HttpsServer]:
    """Serve on loopback with a certificate for `host`."""
    ca, context = _credentials(folder, host)
    served = HttpsServer(ca, answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            served.connections += 1
            super().setup()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

        def _any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            served.asked.append((self.command, self.path, dict(self.headers.items())))
            served.answer(self)

        do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815 - the library's names

    server = _Quiet(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    served.url = f"https://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients break connections here on purpose."""


def replies(status: int, text: str, **headers: str) -> Answer:
    """The same answer to everything."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        data = text.encode()
        to.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            to.send_header(name.replace("_", "-"), value)
        to.end_headers()
        to.wfile.write(data)

    return answer


def breaks(to: BaseHTTPRequestHandler) -> None:
    """No answer: the connection ends."""
    to.close_connection = True


def _credentials(folder: Path, host: str) -> tuple[str, ssl.SSLContext]:
    """The authority has basic constraints and nothing else, as EKS made them: no key identifiers."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _certificate(
        "kubernetes", "kubernetes", ca_key, ca_key, x509.BasicConstraints(True, None), critical=True
    )
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
    certificate = _certificate("kube-apiserver", "kubernetes", key, ca_key, names, critical=False)
    chain, private = folder / "server.crt", folder / "server.key"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, private)
    return authority.public_bytes(serialization.Encoding.PEM).decode(), context


def _certificate(
    subject: str,
    issuer: str,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
    *,
    critical: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(extension, critical=critical)
        .sign(signer, hashes.SHA256())
    )
