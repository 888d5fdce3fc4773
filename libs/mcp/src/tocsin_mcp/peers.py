"""The protocol's library, loaded with the first connection: loading it takes a second."""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import cast

from tocsin_mcp.config import Server
from tocsin_mcp.port import Connect, Peer


def connect(server: Server) -> AbstractAsyncContextManager[Peer]:
    """Connect as the server's entry says."""
    return cast(Connect, import_module("tocsin_mcp.wire").connected)(server)
