"""Writes down what is said in an investigation while it is said; never a reason for it to fail."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter

from tocsin_agents.limits.ledger import Ledger
from tocsin_agents.models.port import Answer, Model, ModelAwayError, OnText, Question
from tocsin_agents.models.prices import Price
from tocsin_agents.tools.port import Identity, Tool, ToolContext, ToolResult, Toolset, ToolSpec
from tocsin_contracts import RunId, Value
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.spending import Spending
from tocsin_kit.untrusted import line
from tocsin_rca.ports import Transcripts
from tocsin_rca.recording import digests
from tocsin_rca.recording.entries import Accounts, Exchange, Listing, Look, ToolUse
from tocsin_rca.recording.masking import Masking
from tocsin_rca.recording.tape import Heard

T = TypeVar("T")

log = logging.get(__name__)


class Scribe:
    """The transcript of one attempt. Who goes on with it elsewhere writes it on.

    An entry has the number of its exchange, and a digest of what was said before it: a step that
    runs again after a crash writes over its own entries, also where there are other tools now. Each
    step is written down when it begins, so that one that never ended is known too.
    """

    def __init__(self, transcripts: Transcripts, run_id: RunId, attempt: int) -> None:
        self._transcripts = transcripts
        self._run_id = run_id
        self._attempt = attempt
        self._may_write = True
        self._known: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._made: Counter[str] = Counter()
        self._came = 0
        self._coming = asyncio.Lock()
        self._listed = ""

    async def open(self) -> None:
        """Read what an earlier worker has written; who cannot writes nothing that would not fit."""
        try:
            self._known = set(await self._transcripts.names(self._run_id, self._attempt))
        except TocsinError as error:
            self._may_write = False
            log.warning("rca.not_recorded", why=line(str(error)))
        asked = (name.split(":") for name in self._known if name.startswith("model:"))
        self._numbers = {digest: int(number) for _, number, digest in asked}

    async def once(self, name: str, entry: Value) -> None:
        """Write an entry that stays as it was first."""
        if name not in self._known:
            await self.write(name, entry)

    async def write(self, name: str, entry: Value) -> None:
        """Write an entry, in place of an older one of its name."""
        if not self._may_write:
            return
        try:
            data = await asyncio.to_thread(_bytes, entry)
            await self._transcripts.add(self._run_id, self._attempt, name, data)
            self._known.add(name)
        except (TocsinError, ValueError) as error:
            log.warning("rca.not_recorded", why=line(str(error)))

    async def listed(self, tools: Sequence[ToolSpec]) -> None:
        """Write which tools there are, once for the same."""
        listing = Listing(tools=tuple(tools))
        self._listed = digests.digest(listing.model_dump_json())
        await self.once(f"tools:{self._listed}", listing)

    def exchange(self, question: Question) -> tuple[str, Exchange]:
        """Return the name and the beginning of an entry for a question."""
        digest = digests.of_conversation(question)
        number = self._numbers.setdefault(digest, len(self._numbers) + 1)
        self._made.clear()
        self._came = 0
        begun = Exchange(number=number, parts=digests.parts(question), listed=self._listed)
        return f"model:{number:04}:{digest}", begun

    def use(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ToolUse]:
        """Return the name and the beginning of an entry for a call after the last exchange."""
        number, digest = len(self._numbers), digests.of_call(tool, arguments)
        self._made[digest] += 1
        begun = ToolUse(number=number, tool=tool, arguments=arguments)
        return f"tool:{number:04}:{digest}:{self._made[digest]}", begun

    async def came(self, name: str, use: ToolUse) -> None:
        """Write a result. Whoever calls goes on before the next result can be written."""
        async with self._coming:
            self._came += 1
            await self.write(name, use.model_copy(update={"order": self._came}))

    async def looked(self, accounts: Accounts) -> None:
        """Write what was spent before the next exchange."""
        await self.write(f"ledger:{len(self._numbers):04}", accounts)

    async def answer(
        self, question: str, kind: TypeAdapter[T], ask: Callable[[], Awaitable[T]]
    ) -> T:
        """Ask what is looked up after the result, and write it down."""
        name = f"look:{digests.digest(question)}"
        try:
            found = await ask()
        except TocsinError as error:
            await self.write(name, Look(question=question, heard=Heard(error=str(error))))
            raise
        told = kind.dump_python(found, mode="json", fallback=str)
        await self.write(name, Look(question=question, heard=Heard(answer=told)))
        return found


class RecordedModel:
    """A model whose answers are written down."""

    def __init__(
        self, model: Model, scribe: Scribe, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model = model
        self._scribe = scribe
        self._clock = clock

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self._model.name

    async def price(self) -> Price | None:
        """Return the price of the model itself."""
        return await self._model.price()

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Ask, and write down what was answered, or why it was not."""
        name, begun = self._scribe.exchange(question)
        await self._scribe.write(name, begun)
        since = self._clock()
        try:
            answer = await self._model.answer(question, on_text)
        except TocsinError as error:
            away = isinstance(error, ModelAwayError)
            failed = begun.model_copy(update={"error": str(error), "away": away})
            await self._scribe.write(name, failed)
            raise
        spoken = answer.model_copy(update={"thought": ""})
        took = {"answer": spoken, "seconds": self._clock() - since}
        await self._scribe.write(name, begun.model_copy(update=took))
        return answer


class RecordedLedger:
    """A ledger of which it is written down what it said before each exchange."""

    def __init__(self, ledger: Ledger, scribe: Scribe) -> None:
        self._ledger = ledger
        self._scribe = scribe

    async def today(self, source: str) -> tuple[Spending, Spending]:
        """Look, and write down what was seen."""
        of_source, of_day = await self._ledger.today(source)
        await self._scribe.looked(Accounts(of_source=of_source, of_day=of_day))
        return of_source, of_day

    async def count(self, source: str, spent: Spending) -> tuple[Spending, Spending]:
        """Count."""
        return await self._ledger.count(source, spent)


class RecordedTools:
    """Tools whose results are written down."""

    def __init__(self, tools: Toolset, scribe: Scribe) -> None:
        self._tools = tools
        self._scribe = scribe

    async def tools(self, identity: Identity) -> Sequence[Tool]:
        """Return what there is."""
        found = await self._tools.tools(identity)
        await self._scribe.listed([tool.spec for tool in found])
        return [RecordedTool(tool, self._scribe) for tool in found]


class RecordedTool:
    """A tool whose results are written down, and given on exactly as they are written: masked."""

    def __init__(
        self, tool: Tool, scribe: Scribe, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tool = tool
        self._scribe = scribe
        self._clock = clock

    @property
    def spec(self) -> ToolSpec:
        """What it is and takes."""
        return self._tool.spec

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Use it, and write down what it gave."""
        name, begun = self._scribe.use(self.spec.name, arguments)
        await self._scribe.write(name, begun)
        since = self._clock()
        result = await self._tool.call(arguments, context)
        took = begun.model_copy(update={"seconds": self._clock() - since})
        try:
            result = await asyncio.to_thread(_masked, result)
        except PermanentError as error:
            await self._scribe.came(name, took.model_copy(update={"lost": str(error)}))
        else:
            await self._scribe.came(name, took.model_copy(update={"result": result}))
        return result


def _masked(result: ToolResult) -> ToolResult:
    told = result.model_dump(mode="json", fallback=str)
    return ToolResult.model_validate(Masking().masked(told))


def _bytes(entry: Value) -> bytes:
    told = Masking().masked(entry.model_dump(mode="json", fallback=str))
    return type(entry).model_validate(told).model_dump_json().encode()
