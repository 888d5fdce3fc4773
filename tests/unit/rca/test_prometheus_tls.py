"""A certificate is verified, by the system's authorities or by those of a file."""

import json
import ssl
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

from tocsin_kit.errors import TransientError
from tocsin_rca.ports import Window
from tocsin_rca.sources.prometheus import Access, Prometheus

LOOPBACK = "127.0.0.1"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WINDOW = Window(START - timedelta(hours=1), START, timedelta(seconds=30))
ANSWER = {"status": "success", "data": {"resultType": "matrix", "result": []}}


SHOWN = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        SHOWN.append(self.headers.get("Authorization"))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def certificate(folder):
    """Write a key and a certificate for the loopback address, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "prometheus")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    both, ca = folder / "server.pem", folder / "ca.pem"
    both.write_bytes(private + made.public_bytes(pem))
    ca.write_bytes(made.public_bytes(pem))
    return both, ca


@contextmanager
def served(server_pem):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server_pem)
    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"https://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


async def test_a_token_is_shown_only_to_who_proves_to_be_the_server(tmp_path):
    server_pem, ca = certificate(tmp_path)
    SHOWN.clear()
    with served(server_pem) as url:
        with pytest.raises(TransientError, match="away: ConnectError"):
            await Prometheus(Access(url, secret=SecretStr("t0ken"))).over("up", WINDOW)
        assert SHOWN == []
        known = Prometheus(Access(url, secret=SecretStr("t0ken"), ca=ca))
        assert (await known.over("up", WINDOW)).series == ()
        assert SHOWN == ["Bearer t0ken"]
