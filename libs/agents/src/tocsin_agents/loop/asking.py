"""One call of a model: hooks around it, bounded in time, watched, and stopped when asked to."""

from dataclasses import dataclass, field

from tocsin_agents.callbacks import first, recovered, rewritten
from tocsin_agents.limits.budgets import CallLimit
from tocsin_agents.loop import events
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.trimming import CHARACTERS_PER_TOKEN, tokens
from tocsin_agents.loop.turn import Turn
from tocsin_agents.loop.watching import Stop, StoppedError, Watch, watching
from tocsin_agents.models.port import Answer, ModelAwayError, Question, Usage
from tocsin_kit.errors import TocsinError
from tocsin_kit.spending import Spending


@dataclass(slots=True)
class Said:
    """What came of a call: an answer, or the words that were said before it was stopped."""

    answer: Answer | None = None
    stopped: Stop | None = None
    words: list[str] = field(default_factory=list)

    @property
    def partial(self) -> str:
        """The words that came."""
        return "".join(self.words)


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks an agent's model, and pays."""

    engine: Engine

    async def ask(self, turn: Turn, question: Question) -> Said:
        """Return what came; a model that is away or refuses raises what its hooks make of it."""
        hooks = turn.agent.callbacks
        early: Question | Answer | None = await first(hooks.before_model, turn.step, question)
        if isinstance(early, Answer):
            return Said(await rewritten(hooks.after_model, turn.step, result=early))
        try:
            said = await self._paid(turn, early or question)
        except TocsinError as error:
            said = Said(await recovered(hooks.model_error, turn.step, error=error))
        if said.answer:
            said.answer = await rewritten(hooks.after_model, turn.step, result=said.answer)
        return said

    async def _paid(self, turn: Turn, question: Question) -> Said:
        begun = self.engine.clock()
        said = await self._bounded(turn, question)
        usage = said.answer.usage if said.answer else _guessed(question, said.partial)
        spent = Spending(
            model_calls=1,
            tokens=usage.tokens,
            seconds=max(0.0, self.engine.clock() - begun),
            money=usage.cost or 0,
            unpriced=int(usage.cost is None),
        )
        turn.pay(spent)
        await self.engine.meter.count(turn.invocation.source, spent)
        if said.answer:
            answer, name = said.answer, turn.agent.name
            answered = events.ModelAnswered(agent=name, model=answer.model, usage=answer.usage)
            await turn.invocation.hear(answered)
        return said

    async def _bounded(self, turn: Turn, question: Question) -> Said:
        call = self.engine.limits.call
        of_run = self.engine.meter.of_run(turn.was["extended"]).seconds
        left = call.seconds if of_run is None else max(0.0, of_run - turn.spent.seconds)
        said, cancel = Said(), turn.invocation.cancel
        try:
            seconds = min(call.seconds, left)
            async with watching(seconds, cancel, idle=call.idle_seconds) as watch:
                said.answer = await self._heard(turn, question, said, watch)
        except StoppedError as stopped:
            if stopped.why is Stop.IDLE or (stopped.why is Stop.TIME and left > call.seconds):
                raise ModelAwayError(_silence(turn.agent.model.name, stopped.why, call)) from None
            said.stopped = stopped.why
        return said

    async def _heard(self, turn: Turn, question: Question, said: Said, watch: Watch) -> Answer:
        async def hear(text: str) -> None:
            watch.moved()
            if not text:
                return
            said.words.append(text)
            await turn.invocation.hear(events.TextCame(agent=turn.agent.name, text=text))

        return await turn.agent.model.answer(question, hear)


def _guessed(question: Question, partial: str) -> Usage:
    """Return about what a call has cost that was stopped: nobody says how much it was."""
    asked = sum(map(tokens, question.messages))
    return Usage(input_tokens=asked, output_tokens=len(partial) // CHARACTERS_PER_TOKEN, cost=None)


def _silence(model: str, why: Stop, call: CallLimit) -> str:
    if why is Stop.IDLE:
        return f"model {model!r} has said nothing for {call.idle_seconds:g} s; it may be back later"
    return f"model {model!r} did not come to an end in {call.seconds:g} s; it may be faster later"
