"""One step's view of the loop's state, and the changes that the step will return."""

from typing import cast

from tocsin_agents.callbacks import Step
from tocsin_agents.loop import events
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.outcome import Ending, Outcome
from tocsin_agents.loop.state import LoopState
from tocsin_agents.messages import Message
from tocsin_agents.state import State, lasting, merged
from tocsin_agents.transfer import Team
from tocsin_contracts import Exhausted
from tocsin_kit.spending import Spending


class Turn:
    """Reads from the state as it was, and collects what the step says, spends and decides."""

    def __init__(self, was: LoopState, team: Team, invocation: Invocation) -> None:
        self.was = was
        self.agent = team[was["agent"]]
        self.invocation = invocation
        self.state = State(was["values"])
        self.step = Step(self.agent.name, invocation.tools.identity, self.state)
        self.spent = was["spent"]
        self.said: list[Message] = []
        self.set: LoopState = {}

    @property
    def closing(self) -> Exhausted | None:
        """Why only a last answer is wanted, if so."""
        return self.set["closing"] if "closing" in self.set else self.was["closing"]

    @property
    def over(self) -> bool:
        """Whether the step has decided how it ends."""
        return self.set.get("outcome") is not None

    def say(self, message: Message) -> None:
        """Add to the conversation."""
        self.said.append(message)

    def pay(self, spent: Spending) -> None:
        """Add to what the run has spent."""
        self.spent += spent

    def end(
        self, ending: Ending, text: str = "", why: str = "", over: Exhausted | None = None
    ) -> None:
        """Decide that the run ends without a final answer."""
        self.set["outcome"] = Outcome(
            ending=ending, agent=self.agent.name, text=text, why=why, exhausted=over
        )

    async def changed(self) -> LoopState:
        """Return the changes, and tell who listens of those of the state."""
        changes = self.state.changes
        if told := lasting(changes):
            name = self.agent.name
            await self.invocation.hear(events.StateChanged(agent=name, changes=told))
        update = {
            "messages": self.said,
            "spent": self.spent,
            "values": merged(self.was["values"], changes),
            "changes": {**self.was["changes"], **changes},
            **self.set,
        }
        return cast("LoopState", update)
