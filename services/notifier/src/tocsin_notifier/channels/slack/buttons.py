"""What a button tells us: which approval, a nonce that decides once, and the plan that was seen."""

import re
import secrets
from dataclasses import dataclass

from tocsin_contracts import RunId
from tocsin_kit.cards import Card
from tocsin_notifier.channels.slack.view import SURFACE, View
from tocsin_notifier.ports import Approvals

_VALUE = re.compile(
    r"(?P<run>[A-Za-z0-9_-]{1,64})\.(?P<plan>[0-9a-f]{12})"
    r"\.(?P<label>[0-9a-f]{8})(?P<nonce>[A-Za-z0-9_-]{43})\.(?P<seen>[0-9a-f]{12})"
)


@dataclass(frozen=True, slots=True)
class Ticket:
    """A button's value: `<approval id>.<nonce>.<plan>`. It decides nothing by itself."""

    run_id: RunId
    plan: str
    label: str
    nonce: str

    @classmethod
    def read(cls, value: str) -> "Ticket | None":
        """Read a value; None for one that no button of ours has."""
        found = _VALUE.fullmatch(value)
        if found is None or found["plan"] != found["seen"]:
            return None
        return cls(RunId(found["run"]), found["plan"], found["label"], found["nonce"])

    def __str__(self) -> str:
        return f"{self.run_id}.{self.plan}.{self.label}{self.nonce}.{self.plan}"

    @property
    def surface(self) -> str:
        """The surface whose nonce it is: each time a message is written it is another."""
        return surface(self.label)


def surface(label: str) -> str:
    """Return the surface of one writing of a message."""
    return f"{SURFACE}:{label}"


class Buttons:
    """Nonces for buttons: those of a message hold until the ones that replace them are shown."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def mint(self, view: View, *, needed: bool) -> tuple[str, str]:
        """Return a label and the value of new buttons; empty ones where nobody can decide."""
        asked = view.asked
        if not needed or not view.waits or asked is None:
            return "", ""
        label = secrets.token_hex(4)
        nonce = await self._approvals.mint(view.run.id, asked.plan.plan_hash, surface(label))
        return label, str(Ticket(view.run.id, asked.plan.short_hash, label, nonce))

    async def void(self, replaced: Card) -> None:
        """Take back the nonce of buttons that nobody sees any more."""
        if replaced.label:
            run_id = RunId(replaced.run_id)
            await self._approvals.void(run_id, replaced.plan_hash, surface(replaced.label))
