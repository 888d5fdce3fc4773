"""What a loop runs on, whoever the agents are: limits, the ledger, skills, kept outputs, time."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tocsin_agents.instructions.writing import Instructions
from tocsin_agents.limits.budgets import Limits
from tocsin_agents.limits.ledger import Ledger, MemoryLedger
from tocsin_agents.loop.metering import Meter
from tocsin_agents.loop.outputs import MemoryOutputs, Outputs
from tocsin_agents.loop.quoting import Quoting
from tocsin_agents.skills.folder import NoSkills, Skills


def _nonce() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The parts around the agents, each with a default that needs nothing.

    `at_once` is how many tools of one answer run at a time. A tool that runs when the run is
    cancelled has `grace_seconds` to end, so that its result is kept. `clock` counts seconds.
    `unpriced` are the models of which the log knows already that nobody knows their price.
    """

    limits: Limits = field(default_factory=Limits)
    ledger: Ledger = field(default_factory=MemoryLedger)
    outputs: Outputs = field(default_factory=MemoryOutputs)
    skills: Skills = field(default_factory=NoSkills)
    instructions: Instructions = ""
    output_characters: int = 8000
    at_once: int = 8
    grace_seconds: float = 7
    clock: Callable[[], float] = time.monotonic
    nonce: Callable[[], str] = _nonce
    unpriced: set[str] = field(default_factory=set)

    @property
    def meter(self) -> Meter:
        """What counts."""
        return Meter(self.limits, self.ledger)

    @property
    def quoting(self) -> Quoting:
        """What turns results of tools into messages."""
        return Quoting(self.outputs, self.nonce, self.output_characters)
