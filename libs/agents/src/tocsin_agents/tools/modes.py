"""What may be used in which mode: a list of what is allowed, and nothing else."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from tocsin_agents.tools.port import Capability, Identity


class Mode(StrEnum):
    """How much a conversation may do."""

    ASK = "ask"
    AGENT = "agent"


ALLOWED: Mapping[Mode, frozenset[Capability]] = MappingProxyType(
    {
        Mode.ASK: frozenset({Capability.READ}),
        Mode.AGENT: frozenset({Capability.READ, Capability.PROPOSE}),
    }
)
"""No mode writes: what is proposed starts a run, and ends at the same gate as any other."""


def allows(mode: Mode, identity: Identity, capability: Capability) -> bool:
    """Whether the mode and the identity both name the capability."""
    return capability in ALLOWED.get(mode, frozenset()) and capability in identity.capabilities
