"""What was said in an investigation, entry by entry, as it is kept and played again."""

from collections.abc import Mapping
from typing import Any

from pydantic import AwareDatetime

from tocsin_agents.limits.budgets import Limits
from tocsin_agents.models.port import Answer
from tocsin_agents.models.prices import Price
from tocsin_agents.tools.port import ToolResult, ToolSpec
from tocsin_contracts import ClusterContext, Extension, Value
from tocsin_kit.spending import Spending
from tocsin_rca.evidence.comparison import Summary
from tocsin_rca.recording.tape import Heard


class Beginning(Value):
    """What an investigation began with, beside what the analyzers knew.

    `price` is what the model was known to cost, where a limit depends on that.
    """

    at: AwareDatetime
    clusters: ClusterContext
    model: str
    limits: Limits
    sub_agents: tuple[str, ...] = ()
    price: Price | None = None


class Part(Value):
    """A part of a question: what it is, and a digest of its words without marks and secrets."""

    about: str
    digest: str


class Exchange(Value):
    """A question to a model, and what became of it; without either it was never answered.

    `listed` is the digest of the tools that there were. `away` tells a model that was not there
    from one that refused.
    """

    number: int
    parts: tuple[Part, ...]
    listed: str = ""
    answer: Answer | None = None
    error: str = ""
    away: bool = False
    seconds: float | None = None


class ToolUse(Value):
    """A call of a tool after an exchange, and its result; None if it never came.

    `order` counts the results as they came, from 1 on: evidence is numbered so. `lost` says why a
    result that came was not kept.
    """

    number: int
    tool: str
    arguments: Mapping[str, Any]
    result: ToolResult | None = None
    order: int = 0
    lost: str = ""
    seconds: float | None = None


class Listing(Value):
    """The tools that there were when a model was asked."""

    tools: tuple[ToolSpec, ...]


class Accounts(Value):
    """What a source, and everybody together, had spent that day when a model was to be asked."""

    of_source: Spending = Spending()
    of_day: Spending = Spending()


class Granted(Value):
    """What people, or a clock, answered to a pause."""

    extension: Extension


class Look(Value):
    """What was looked up after the model had handed in its result."""

    question: str
    heard: Heard


class End(Value):
    """What an investigation came to; `paused` is that it waits for people."""

    concluded: Summary | None = None
    paused: bool = False
