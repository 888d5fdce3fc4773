"""Full outputs of tools, kept beside the conversation, and the tool that reads on in them."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tocsin_agents.tools.port import Capability, Status, ToolContext, ToolResult, ToolSpec
from tocsin_kit.outputs import Page
from tocsin_kit.redaction import Redactor

READ_OUTPUT = "read_output"
PAGE_CHARACTERS = 6000


class Outputs(Protocol):
    """Keeps texts. A scope, such as a run, cannot read what another one kept."""

    async def keep(self, scope: str, text: str) -> str:
        """Return a ref to the text, the same for the same text; an empty one if it is not kept."""

    async def read(self, scope: str, ref: str, offset: int, most: int) -> Page | None:
        """Return at most so many characters from an offset on; None for an unknown ref."""


class MemoryOutputs:
    """Outputs that this process keeps: so many characters, of which the oldest texts go first.

    With a redactor they are masked, and so their refs are those of the store.
    """

    def __init__(self, most: int = 20_000_000, redactor: Redactor | None = None) -> None:
        self._most = most
        self._redactor = redactor
        self._held = 0
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def keep(self, scope: str, text: str) -> str:
        """Return a ref to the text; the same text has the same ref."""
        text = self._redactor.text(text) if self._redactor else text
        ref = hashlib.sha256(text.encode()).hexdigest()[:16]
        if (scope, ref) not in self._texts:
            self._held += len(text)
            self._texts[scope, ref] = text
        self._texts.move_to_end((scope, ref))
        while self._held > self._most and len(self._texts) > 1:
            self._held -= len(self._texts.popitem(last=False)[1])
        return ref

    async def read(self, scope: str, ref: str, offset: int, most: int) -> Page | None:
        """Return at most so many characters from an offset on; None for an unknown ref."""
        text = self._texts.get((scope, ref))
        return None if text is None else Page(text[offset : offset + most], len(text))


class _Where(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ref: str = Field(description="As the cut output names it.")
    offset: int = Field(default=0, ge=0, description="The first character to read.")


class ReadOutput:
    """Reads on in an output of this scope that was cut or left out."""

    def __init__(self, outputs: Outputs, scope: str) -> None:
        self._outputs = outputs
        self._scope = scope

    @property
    def spec(self) -> ToolSpec:
        """What it is and takes."""
        return ToolSpec(
            name=READ_OUTPUT,
            description=f"Read {PAGE_CHARACTERS} characters of a tool's full output by its ref.",
            parameters=_Where.model_json_schema(),
            capability=Capability.READ,
        )

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        """Return a page and where the next one begins."""
        del context
        try:
            where = _Where.model_validate(arguments)
        except ValidationError as error:
            wrong = "; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())
            return ToolResult(status=Status.ERROR, error="wrong arguments", message=wrong)
        page = await self._outputs.read(self._scope, where.ref, where.offset, PAGE_CHARACTERS)
        if page is None:
            message = "It is kept no more, or never was; use the tool again that gave it."
            return ToolResult(status=Status.ERROR, error="unknown ref", message=message)
        end = where.offset + len(page.text)
        more = f"; the next page is at offset {end}" if end < page.total else ""
        message = f"Characters {where.offset} to {end} of {page.total}{more}."
        return ToolResult(status=Status.OK, data=page.text, message=message, ref=where.ref)
