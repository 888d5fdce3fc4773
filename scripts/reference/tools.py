"""The page of tools: those of rca itself, then each type of backend with an answer of its own."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from reference import NOTE, cell
from tocsin_agents.tools.port import Identity, Tool, ToolContext
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_cluster.fleet import Fleet
from tocsin_gitops.config import GitOps
from tocsin_gitops.source import LocalGitSource
from tocsin_kit import store
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs_about import RunsAbout
from tocsin_rca import backends, tools
from tocsin_rca.backends import Backend
from tocsin_rca.backends.options import BackendOptions
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.settings import Settings
from tocsin_rca.sources.past_runs import PastRuns
from tocsin_rca.tools import outside
from tocsin_rca.tools.runs import RunTools
from tocsin_testing import recorded
from tocsin_testing.fakes import FakeClock
from tocsin_testing.recorded import Recording, Use

HEAD = f"""\
{NOTE}

# Tools

What agents may ask, and people by `/tools/call` and in chats; [agents](agents.md) says what keeps
them within bounds. All of these only read. What is not configured is not offered, and
`tocsin tools list` says what is.
"""

BACKENDS = """\
## Backends

`TOCSIN_BACKENDS` names what else may be asked; the tools are called like the name. In the file of
`TOCSIN_CONFIG`:

```toml
[rca.backends.logs-west]            # its tools are logs-west.logs, logs-west.labels
type = "loki"
url = "https://loki.example"
token = {file = "/run/secrets/loki"} # or {env = "LOKI_TOKEN"}; never the token itself
```

Each is asked at its own address only: no redirect is followed, no proxy of the environment is used,
a certificate is always verified. An answer is a sentence first, then bounded rows, then a link for
people. Secrets in it are masked. A backend that is away or refuses is an error that says so within
`seconds`, and whoever asked goes on without it.
"""

OWN = {
    "k8s": "The clusters of [clusters.md](clusters.md).",
    "delivery": "The same clusters, and Applications in `argo_namespaces` of `TOCSIN_GITOPS_FILE`.",
    "git": "The repositories of `TOCSIN_GITOPS_FILE`.",
    "runs": "The runs of Tocsin itself.",
    "knowledge": "The folder `TOCSIN_KNOWLEDGE_DIR`: [runbooks](diagnosis.md#runbooks).",
    "metrics": "A Prometheus, Thanos or Mimir: `TOCSIN_PROMETHEUS_URL`.",
}
"""What the tools of rca itself look at."""

ANYBODY = Identity("reader")
SHARED = BackendOptions.model_fields


def page() -> str:
    """Return the whole page."""
    kinds = {one.model_fields["type"]: one for one in get_args(get_args(Backend)[0])}
    lines = [HEAD, *_own(), BACKENDS, *_settings(SHARED), ""]
    for kind in sorted(kinds.values(), key=lambda one: _types(one)[0]):
        lines += _section(kind)
    return "\n".join(lines)


def _own() -> Iterator[str]:
    clock, source = FakeClock(), LocalGitSource()
    settings = Settings(prometheus_url="http://127.0.0.1:9090", knowledge_dir=Path(__file__).parent)
    registry = tools.registry(
        Fleet([], clock.now),
        GitHistory(source, GitOps()),
        source,
        GitOps(),
        outside=(_runs(clock), *outside.knowledge(settings), *outside.metrics(settings)),
    )
    for toolset in registry:
        yield f"## {toolset.name}\n\n{OWN.get(toolset.name, '')}\n"
        yield from _table(asyncio.run(_tools(toolset)))


def _runs(clock: FakeClock) -> NamedToolset:
    redis = store.connect("redis://127.0.0.1")
    return RunTools(PastRuns(RunReader(redis), RunsAbout(redis), clock)).toolset()


def _section(kind: type[BackendOptions]) -> Iterator[str]:
    types = _types(kind)
    known = recorded.recording(types[0])
    yield f"### {' and '.join(types)}\n\n{' '.join((kind.__doc__ or '').split())}\n"
    yield from _table(asyncio.run(_tools(_opened(types[0], known, None))))
    own = {name: one for name, one in kind.model_fields.items() if name not in SHARED}
    yield from _settings({name: one for name, one in own.items() if name != "type"})
    use = known.uses[0]
    answer = asyncio.run(_answer(types[0], known, use))
    yield f"`{types[0]}.{use.tool}` with `{json.dumps(use.arguments)}` answers, for example:\n"
    yield f"```json\n{json.dumps(answer, indent=2, ensure_ascii=False)}\n```\n"


def _types(kind: type[BackendOptions]) -> Sequence[str]:
    return get_args(kind.model_fields["type"].annotation)


def _table(found: Sequence[Tool]) -> Iterator[str]:
    yield "| tool | can | what |\n|---|---|---|"
    for tool in found:
        first = tool.spec.description.split("\n\n")[0]
        yield f"| `{tool.spec.name}` | {tool.spec.capability} | {cell(first)} |"
    yield ""


def _settings(fields: Mapping[str, Any]) -> Iterator[str]:
    if fields:
        yield "| setting | default | what |\n|---|---|---|"
    for name, field in fields.items():
        default = "" if field.is_required() or field.default in ("", None) else field.default
        shown = f"`{json.dumps(default)}`" if default != "" else ""
        yield f"| `{name}` | {shown} | {cell(field.description or '')} |"
    if fields:
        yield ""


def _opened(name: str, known: Recording, use: Use | None) -> NamedToolset:
    os.environ.setdefault("BACKEND_TOKEN", "an example")
    options = TypeAdapter(Backend).validate_python(known.options)
    transport = recorded.replaying(use, options.base) if use else None
    clock = FakeClock(recorded.NOW)
    return backends.toolset(name, options, set(), clock=clock, transport=transport)


async def _tools(toolset: NamedToolset) -> Sequence[Tool]:
    return await toolset.tools(ANYBODY)


async def _answer(name: str, known: Recording, use: Use) -> Any:
    wanted = f"{name}.{use.tool}"
    (tool,) = [one for one in await _tools(_opened(name, known, use)) if one.spec.name == wanted]
    result = await tool.call(use.arguments, ToolContext(ANYBODY))
    if result.error:
        raise LookupError(f"{wanted} does not answer what is recorded: {result.error}")
    return result.data
