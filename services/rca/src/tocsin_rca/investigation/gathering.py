"""What a model looks at becomes evidence: it has an id, is kept, and can be cited and shown."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from tocsin_agents.callbacks import Step
from tocsin_agents.loop.calling import arguments_of
from tocsin_agents.messages import ToolCall
from tocsin_agents.models.port import Answer
from tocsin_agents.tools.port import Status, ToolResult
from tocsin_contracts import Evidence, EvidenceKind, ObjectRef
from tocsin_kit.untrusted import line
from tocsin_rca.evidence import observe

EVIDENCE, OBJECTS, SHOWN, MODELS = "run:evidence", "run:objects", "run:shown", "run:models"
"""Keys of the agent's state: what it gathered, what was seen, what it was shown, who answered."""

PREFIX = "m"
"""Ids of what a model gathered begin with it, so that they are never those of collectors."""

_KINDS: Mapping[str, EvidenceKind] = {
    "k8s.get": EvidenceKind.OBJECT,
    "k8s.list": EvidenceKind.OBJECT,
    "k8s.events": EvidenceKind.EVENT,
    "k8s.logs": EvidenceKind.LOG,
    "metrics.localise": EvidenceKind.METRIC,
    "delivery.recent": EvidenceKind.ROLLOUT,
    "git.changes": EvidenceKind.COMMIT,
    "git.commits": EvidenceKind.COMMIT,
    "git.read_file": EvidenceKind.MANIFEST,
    "git.search": EvidenceKind.MANIFEST,
    "git.blame": EvidenceKind.COMMIT,
    "git.compare": EvidenceKind.COMMIT,
    "knowledge.search": EvidenceKind.RUNBOOK,
    "knowledge.read": EvidenceKind.RUNBOOK,
    "runs.about": EvidenceKind.PAST,
    "runs.search": EvidenceKind.PAST,
}
_QUERY = 300


class Gathering:
    """Hooks that keep what tools answered and which models did; `now` tells the time.

    Ids begin with the prefix, which tells apart what was gathered for different works.
    """

    def __init__(self, now: Callable[[], datetime], prefix: str = PREFIX) -> None:
        self._now = now
        self._prefix = prefix

    async def keep(self, step: Step, call: ToolCall, result: ToolResult) -> ToolResult | None:
        """Keep an answer as evidence and say its id; a call that was refused shows nothing."""
        if result.status is Status.REFUSED:
            return None
        state, arguments = step.state, arguments_of(call) or {}
        kept = state.get(EVIDENCE, [])
        id = f"{self._prefix}{len(kept) + 1}"
        seen = _evidence(id, call.name, arguments, result, self._now())
        state[EVIDENCE] = [*kept, seen.model_dump(mode="json")]
        if result.status is Status.OK:
            refs = map(str, sighted(call.name, arguments, result.data))
            state[OBJECTS] = sorted({*state.get(OBJECTS, []), *refs})
        said = f"This is evidence {id}. {result.message}".strip()
        return result.model_copy(update={"message": said})

    async def name(self, step: Step, answer: Answer) -> None:
        """Remember who answered: a fallback may have."""
        known = step.state.get(MODELS, [])
        if answer.model not in known:
            step.state[MODELS] = [*known, answer.model]


def sighted(tool: str, arguments: Mapping[str, Any], data: Any) -> frozenset[ObjectRef]:
    """Return the objects that an answer of one of our own tools shows to exist."""
    if tool == "git.changes":
        return frozenset([_ref(arguments)] if data else [])
    answers = [data]
    if isinstance(data, Mapping) and isinstance(data.get("clusters"), Mapping):
        answers = list(data["clusters"].values())
    told = (answer for answer in answers if isinstance(answer, Mapping))
    return frozenset(ref for answer in told for ref in _shown(tool, arguments, answer))


def _shown(
    tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[ObjectRef]:
    if tool == "k8s.list":
        for found in answer.get("objects", ()):
            yield _ref({**arguments, "name": found.get("name", "")})
    elif tool == "k8s.logs" and answer.get("exists"):
        yield _ref({**arguments, "kind": "Pod", "name": arguments.get("pod", "")})
    elif tool in ("k8s.get", "k8s.events") and (answer.get("exists") or answer.get("events")):
        yield _ref(arguments)


def _ref(arguments: Mapping[str, Any]) -> ObjectRef:
    kind, namespace, name = (
        str(arguments.get(key, "")).strip() for key in ("kind", "namespace", "name")
    )
    return ObjectRef(kind=kind, namespace=namespace, name=name)


def _evidence(
    id: str, tool: str, arguments: Mapping[str, Any], result: ToolResult, at: datetime
) -> Evidence:
    failed = result.status is not Status.OK
    kind = EvidenceKind.MISSING if failed else _KINDS.get(tool, EvidenceKind.OUTPUT)
    if kind is EvidenceKind.OBJECT and arguments.get("kind") == "Pod":
        kind = EvidenceKind.POD
    text = result.error if failed else rendered(result.data)
    query = line(f"{tool} {json.dumps(arguments, ensure_ascii=False)}", _QUERY)
    source = tool.partition(".")[0]
    seen = observe(kind, source=source, query=query, at=at, text=text, data=None)
    return seen.evidence.model_copy(update={"id": id})


def rendered(data: Any) -> str:
    """Return data as a person reads it: texts as they are, everything else a line each."""
    if isinstance(data, Mapping):
        return "\n".join(f"{key}: {rendered(value)}" for key, value in data.items())
    if isinstance(data, list | tuple):
        return "\n".join(f"- {rendered(item)}" for item in data)
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
