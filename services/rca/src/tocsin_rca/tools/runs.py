"""Questions about earlier runs: what was wrong with something before, and what came of it."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import AwareDatetime, Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability, ToolContext
from tocsin_agents.tools.signatures import Function
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_contracts import RunState, Workload
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Told, counted
from tocsin_rca.ports import PastRun
from tocsin_rca.tools.arguments import Namespace

SERVER = "runs"
MOST_FOUND = 10
_LONGEST = 300

Name = Annotated[str, Field(min_length=1, description="The name of the workload.")]
Cluster = Annotated[
    str, Field(description="Its cluster as alerts name it; empty where they name none.")
]
Words = Annotated[
    str,
    Field(
        min_length=2,
        max_length=300,
        description="Words of its alert, cause or end, such as OutOfMemory payments.",
    ),
]
Limit = Annotated[int, Field(ge=1, le=MOST_FOUND, description="How many at most.")]


class Earlier(Protocol):
    """The earlier runs. May raise TocsinError."""

    async def of(self, workload: Workload, limit: int) -> tuple[PastRun, ...]:
        """Return the last runs about a workload, the newest first."""

    async def like(self, words: str, limit: int) -> tuple[PastRun, ...]:
        """Return the runs that fit some words, the best first."""


class RunRow(Brief):
    """An earlier run, and what came of it as far as it came."""

    run: str
    opened_at: AwareDatetime
    alert: str
    state: RunState
    cause: str = ""
    about: str = ""
    why: str = ""
    pull_request: str = ""
    ended: str = ""


class Runs(Told):
    """Earlier runs."""

    runs: tuple[RunRow, ...] = ()


class RunTools:
    """One method a tool; what an earlier run concluded is a hint, never evidence of today."""

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier

    def toolset(self) -> OwnTools:
        """Return the tools of the server `runs`."""
        methods: tuple[Function, ...] = (self.about, self.search)
        return OwnTools(
            SERVER,
            (FunctionTool(method, server=SERVER, capability=Capability.READ) for method in methods),
        )

    async def about(
        self,
        context: ToolContext,
        name: Name,
        namespace: Namespace,
        cluster: Cluster = "",
        limit: Limit = 5,
    ) -> Runs:
        """Show the last runs about a workload: alert, cause, pull request and end of each."""
        workload = Workload(cluster=cluster, namespace=namespace, name=name)
        found = await self._earlier.of(workload, limit + 1)
        return _told([one for one in found if one.run_id != context.run_id][:limit])

    async def search(self, context: ToolContext, words: Words, limit: Limit = 5) -> Runs:
        """Find earlier runs by words of their alert, their cause or their end, the best first."""
        found = await self._earlier.like(words, limit + 1)
        return _told([one for one in found if one.run_id != context.run_id][:limit])


def _told(found: Sequence[PastRun]) -> Runs:
    named = sum(one.finding is not None for one in found)
    cause = counted(named, "names a cause", "name a cause")
    return Runs(
        said=f"{counted(len(found), 'earlier run')}; {cause}.", runs=tuple(map(_row, found))
    )


def _row(one: PastRun) -> RunRow:
    finding = one.finding
    return RunRow(
        run=one.run_id,
        opened_at=one.opened_at,
        alert=line(one.title),
        state=one.state,
        cause=finding.cause.value if finding else "",
        about=str(finding.object) if finding else "",
        why=line(finding.summary, _LONGEST) if finding else "",
        pull_request=one.pull_request,
        ended=line(one.ending, _LONGEST),
    )
