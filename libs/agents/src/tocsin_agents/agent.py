"""What an agent is: a model with instructions, tools and others to hand over to, as plain data."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from tocsin_agents.callbacks import Callbacks
from tocsin_agents.instructions.writing import Instructions
from tocsin_agents.models.port import Model
from tocsin_agents.tools.port import Tool, Toolset
from tocsin_kit.errors import PermanentError

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")

Request = str | Mapping[str, Any] | BaseModel
"""What an agent is asked: a text, or the fields of its input schema."""


@dataclass(frozen=True, slots=True)
class External:
    """An agent elsewhere that can be handed over to: it answers, and its parent goes on.

    It is asked through the tool `NAME.ask`, which has to be among its parent's tools; while that is
    away nobody can hand over to it.
    """

    name: str

    @property
    def tool(self) -> str:
        """The name of the tool that asks it."""
        return f"{self.name}.ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent. It may hand over to its `sub_agents`, to its parent and to its peers.

    With an `output_schema` it ends by submitting an object of it, otherwise with a text; either is
    stored in the state under `output_key`. Without `include_history` its model is shown only the
    request and what was said since the agent took over.
    """

    name: str
    description: str
    model: Model
    instructions: Instructions = ""
    tools: Sequence[Tool | Toolset] = ()
    sub_agents: Sequence["Agent | External"] = ()
    input_schema: type[BaseModel] | None = None
    output_schema: type[BaseModel] | None = None
    output_key: str = ""
    callbacks: Callbacks = field(default_factory=Callbacks)
    include_history: bool = True
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False

    def __post_init__(self) -> None:
        """Refuse a name that a model could not say as an argument."""
        if not _NAME.fullmatch(self.name):
            raise PermanentError(f"{self.name!r} is no name for an agent; use a-z, 0-9, _ and -")

    def request(self, given: Request) -> str:
        """Return the text of a request; PermanentError names the field that does not fit."""
        if self.input_schema is None:
            return given if isinstance(given, str) else _json(given)
        try:
            fields = json.loads(given) if isinstance(given, str) else given
            return self.input_schema.model_validate(fields).model_dump_json()
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, wrong["loc"]))
            raise PermanentError(
                f"request to agent {self.name!r}: {field}: {wrong['msg']}"
            ) from None
        except ValueError as error:
            raise PermanentError(f"request to agent {self.name!r}: no JSON: {error}") from None


def _json(given: Mapping[str, Any] | BaseModel) -> str:
    if isinstance(given, BaseModel):
        return given.model_dump_json()
    return json.dumps(given, ensure_ascii=False)
