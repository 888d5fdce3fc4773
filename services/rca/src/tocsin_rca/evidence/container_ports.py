"""The ports that containers declare, and which of them a probe means."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_cluster.manifest import Container
from tocsin_contracts import Scalar


@dataclass(frozen=True, slots=True)
class Port:
    """A TCP port of a container; the name may be empty."""

    number: int
    name: str

    def __str__(self) -> str:
        return f"{self.number} ({self.name})" if self.name else str(self.number)

    def is_meant_by(self, asked: Scalar) -> bool:
        """Whether a probe that asks this, by number or by name, asks this port."""
        return str(asked) in (str(self.number), self.name or str(self.number))

    def written_like(self, asked: Scalar) -> int | str:
        """Return this port as the probe should write it: by name if it used a name."""
        by_name = isinstance(asked, str) and not asked.isdigit()
        return self.name if by_name and self.name else self.number


def declared_ports(containers: Iterable[Container]) -> tuple[Port, ...]:
    """Return the TCP ports that containers declare, each number once."""
    found: dict[int, Port] = {}
    for container in containers:
        for raw in container.items("ports"):
            number = raw.get("containerPort")
            if isinstance(number, int) and raw.get("protocol", "TCP") == "TCP":
                found.setdefault(number, Port(number, str(raw.get("name") or "")))
    return tuple(found.values())
