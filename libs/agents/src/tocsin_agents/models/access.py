"""Where and with which key a model is asked, and what keeps questions on this machine."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from tocsin_agents.models.port import ModelRefusedError

LOCAL_ONLY = "TOCSIN_LOCAL_MODELS_ONLY"
"""While this variable is set, no model beyond this machine is asked, whoever wants to."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_SECRETIVE = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


@dataclass(frozen=True, slots=True)
class Access:
    """An address and a key; without either, what the provider's own tools take counts."""

    key: SecretStr | None = None
    url: str = ""

    def check(self, model: str) -> None:
        """Raise ModelRefusedError for a model beyond this machine while the switch is set."""
        if os.environ.get(LOCAL_ONLY) and urlsplit(self.url).hostname not in _LOOPBACK:
            raise ModelRefusedError(
                f"the model {model!r} is not asked: while {LOCAL_ONLY} is set, only models "
                "with an address on this machine are (TOCSIN_MODEL_URLS)"
            )

    def secrets(self) -> Iterator[str]:
        """Yield what an error may repeat: key, parts of the address, keys of the environment."""
        if self.key:
            yield self.key.get_secret_value()
        address = urlsplit(self.url)
        yield from (value for _, value in parse_qsl(address.query))
        yield from (part for part in (address.username, address.password) if part)
        yield from (value for name, value in os.environ.items() if name.endswith(_SECRETIVE))


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a whole answer may take, and seconds until its next piece must have come."""

    total: float = 240
    stall: float = 60
