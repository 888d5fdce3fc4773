"""What can be read off an agent's work: what it used, what it saw, and that it waits."""

from tocsin_agents.loop.running import Ran
from tocsin_contracts import BudgetExhausted, Evidence, ModelUse, PromptPart
from tocsin_kit.untrusted import line
from tocsin_rca.investigation.agent import NAME
from tocsin_rca.investigation.gathering import EVIDENCE, MODELS
from tocsin_rca.investigation.known import Known


def is_of(pause: BudgetExhausted, ran: Ran) -> bool:
    """Whether the work still stands where people were asked: every pause follows another call."""
    return pause.model_use is not None and pause.model_use.model_calls == ran.spent.model_calls


def waiting(known: Known, ran: Ran) -> BudgetExhausted | None:
    """Return that a work waits for a larger budget; None if it does not."""
    if ran.paused is None:
        return None
    words = [message.text for message in ran.messages if message.author == NAME and message.text]
    return BudgetExhausted(
        run_id=known.run_id,
        agent=NAME,
        exhausted=ran.paused,
        attempt=known.attempt,
        so_far=line(words[-1], 1000) if words else "",
        model_use=used(ran),
    )


def gathered(ran: Ran) -> tuple[Evidence, ...]:
    """Return what the tools of a work have shown."""
    return tuple(Evidence.model_validate(one) for one in ran.changes.get(EVIDENCE, ()))


def used(ran: Ran) -> ModelUse:
    """Return what a work has used, and which texts its model was told."""
    spent = ran.spent
    return ModelUse(
        models=tuple(ran.changes.get(MODELS, ())),
        model_calls=spent.model_calls,
        tool_calls=spent.tool_calls,
        tokens=spent.tokens,
        seconds=spent.seconds,
        cost=spent.price,
        prompt=tuple(
            PromptPart(name=part.name, sha256=part.sha256)
            for parts in ran.prompts.values()
            for part in parts
        ),
    )
