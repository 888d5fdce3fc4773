"""The one file that knows litellm: it takes seconds to import, so it is imported when needed."""

import asyncio
import functools
import logging
import os
import threading
from collections.abc import Awaitable
from importlib import import_module
from typing import Any

from tocsin_agents.models import wire
from tocsin_agents.models.access import Access, Patience
from tocsin_agents.models.failures import Failure
from tocsin_agents.models.gathering import Gathering
from tocsin_agents.models.port import (
    Answer,
    ModelAwayError,
    ModelRefusedError,
    OnText,
    Question,
    Usage,
)
from tocsin_agents.models.prices import Counted, Price
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line

_SETUP = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches a list of prices
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # likewise
    "LITELLM_MODE": "PRODUCTION",  # else the import reads `.env`
}
LONGEST_REASON = 300
"""Characters of what a provider says that an error repeats."""

_SLOW_SECONDS = 60
"""How long a model is left alone that took all its time: longer than anybody waits to retry."""

MOST_CHARACTERS = 4_000_000
"""Of an answer: more than any limit of tokens allows, and no more than can be held."""

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_KEYLESS = "none"
"""A server of one's own wants no key, but its client does; and no other key may reach it."""


class LiteLlm:
    """A model `provider/name` that litellm can reach. It asks once: who retries wraps it."""

    def __init__(
        self, name: str, access: Access, patience: Patience, price: Price | None = None
    ) -> None:
        self._name = name
        self._access = access
        self._patience = patience
        self._price = price
        self._redactor = Redactor(access.secrets())

    @property
    def name(self) -> str:
        """What the operator calls it."""
        return self._name

    async def price(self) -> Price | None:
        """Return the operator's price or the listed one; None if nobody knows."""
        if self._price or self._access.url:
            return self._price
        return self._known_price(await asyncio.to_thread(_library))

    async def answer(self, question: Question, on_text: OnText | None = None) -> Answer:
        """Ask, and tell the text as it comes. Raises ModelAwayError or ModelRefusedError."""
        self._access.check(self._name)
        library = await asyncio.to_thread(_library)
        gathered = Gathering()
        try:
            async with asyncio.timeout(self._patience.total):
                await self._gather(library, question, gathered, on_text)
        except library.exceptions.openai.OpenAIError as error:
            # Not from the error: it may hold the key, and so would a log of where it came from.
            raise self._failure(error).error(self._name) from None
        except TimeoutError:
            raise ModelAwayError(
                f"the model {self._name!r} did not finish within {self._patience.total:g} s; "
                "TOCSIN_MODEL_SECONDS gives it more",
                retry_in=_SLOW_SECONDS,
            ) from None
        return self._answer(library, question, gathered)

    async def _gather(
        self, library: Any, question: Question, gathered: Gathering, on_text: OnText | None
    ) -> None:
        stream = await self._patiently(library.acompletion(**self._request(question)))
        try:
            while (chunk := await self._patiently(anext(stream, None))) is not None:
                text = gathered.take(chunk)
                if gathered.size > MOST_CHARACTERS:
                    raise ModelRefusedError(f"the model {self._name!r} does not stop to answer")
                if on_text:
                    await on_text(text)
        finally:
            await stream.aclose()

    async def _patiently(self, step: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(self._patience.stall):
                return await step
        except TimeoutError:
            raise ModelAwayError(
                f"the model {self._name!r} said nothing for {self._patience.stall:g} s; "
                "TOCSIN_MODEL_STALL_SECONDS gives it more"
            ) from None

    def _request(self, question: Question) -> dict[str, Any]:
        marked = wire.takes_marks(self._name)
        access = {
            "api_base": self._access.url or None,
            "api_key": self._access.key.get_secret_value() if self._access.key else None,
        }
        if access["api_base"] and not access["api_key"]:
            access["api_key"] = _KEYLESS
        tools = {
            "tools": wire.tools(question, marked=marked) or None,
            "tool_choice": wire.choice(question),
        }
        return {
            "model": self._name,
            "messages": wire.messages(question, marked=marked),
            "max_tokens": question.most_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": self._patience.total,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,  # what a model does not take, such as a temperature
            **{name: value for name, value in (access | tools).items() if value is not None},
        }

    def _answer(self, library: Any, question: Question, gathered: Gathering) -> Answer:
        calls = gathered.calls(wire.Names(question.tools))
        if gathered.finish == "content_filter":
            raise ModelRefusedError(f"the provider of {self._name!r} filtered the answer out")
        if gathered.counted is None and not (gathered.text or gathered.thought or calls):
            raise ModelAwayError(
                f"the model {self._name!r} gave an empty answer; "
                "is its address one of a server that speaks OpenAI's protocol?"
            )
        return Answer(
            model=self._name,
            text=gathered.text,
            thought=gathered.thought,
            calls=calls,
            usage=self._usage(library, gathered.counted or Counted()),
            cut_off=gathered.finish == "length",
        )

    def _usage(self, library: Any, used: Counted) -> Usage:
        price = self._known_price(library)
        return Usage(
            input_tokens=used.input,
            cached_tokens=used.cached,
            output_tokens=used.output,
            cost=None if price is None else price.of(used),
        )

    def _known_price(self, library: Any) -> Price | None:
        """The public list says nothing about a server of the operator's own."""
        if self._price or self._access.url:
            return self._price
        return Price.listed(library.model_cost, self._name)

    def _failure(self, error: Any) -> Failure:
        error = getattr(error, "original_exception", None) or error
        body = getattr(error, "body", None)
        kind = type(error).__name__
        says = str(error).replace("litellm.", "").replace(f"{kind}: ", "")
        return Failure(
            status=getattr(error, "status_code", None) or 0,
            says=f"{kind}: {line(self._redactor.text(says), LONGEST_REASON)}",
            code=str(body.get("code", "")) if isinstance(body, dict) else "",
            headers=getattr(getattr(error, "response", None), "headers", None) or {},
            too_long=kind == "ContextWindowExceededError",
        )


def warm_up() -> threading.Thread:
    """Import what takes seconds beside whatever else starts; a first answer waits for it."""
    thread = threading.Thread(target=_library, name="litellm", daemon=True)
    thread.start()
    return thread


@functools.cache
def _library() -> Any:
    os.environ.update(_SETUP)
    library: Any = import_module("litellm")
    library.suppress_debug_info = True
    library.telemetry = False
    for name in _LOGGERS:
        logging.getLogger(name).handlers.clear()  # ours mask secrets; its own do not
    return library
