"""Jenkins: the last builds of a job, what a build changed, the stage that failed, and its log."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import clean, line
from tocsin_rca.backends.answers import Brief, Limit, Told, counted, moment
from tocsin_rca.backends.client import Client
from tocsin_rca.backends.options import BackendOptions

MOST_LINES = 200
LONGEST_LOG = 6000
_LONGEST = 300
_MARK = "[Pipeline] "
_BUILD = "number,result,building,timestamp,duration"
_CHANGES = "changeSets[items[commitId,msg,author[fullName]]]"

Job = Annotated[
    str,
    Field(min_length=1, max_length=500, description="The job with its folders, such as shop/web."),
]
Number = Annotated[int, Field(ge=1, description="The number of the build.")]
Stage = Annotated[
    str, Field(max_length=200, description="Only the log of this stage; empty for all of it.")
]
Lines = Annotated[int, Field(ge=1, le=MOST_LINES, description="How many of the last lines.")]


class JenkinsOptions(BackendOptions):
    """A Jenkins; an API token of a `user` that may read jobs is enough."""

    type: Literal["jenkins"]

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = JenkinsTools(client, self.page)
        return (told.job, told.build, told.log)


class _Build(BaseModel):
    number: int
    result: str | None = None
    building: bool = False
    timestamp: int
    duration: int = 0


class _Job(BaseModel):
    builds: list[_Build]


class _Author(BaseModel):
    name: str = Field(default="", alias="fullName")


class _Change(BaseModel):
    commit: str = Field(default="", alias="commitId")
    message: str = Field(default="", alias="msg")
    author: _Author = _Author()


class _ChangeSet(BaseModel):
    items: list[_Change] = []


class _Whole(_Build):
    sets: list[_ChangeSet] = Field(default=[], alias="changeSets")


class _Error(BaseModel):
    message: str = ""


class _Stage(BaseModel):
    name: str
    status: str
    error: _Error = _Error()


class _Run(BaseModel):
    stages: list[_Stage]


class BuildRow(Brief):
    """A build; one that runs has no result yet."""

    number: int
    result: str
    began: datetime
    seconds: int | None = None


class Builds(Told):
    """Builds of a job, the newest first."""

    builds: tuple[BuildRow, ...] = ()


class Commit(Brief):
    """A commit that a build was the first with."""

    commit: str
    author: str = ""
    message: str = ""


class StageRow(Brief):
    """A stage of a pipeline, and why it failed."""

    name: str
    status: str
    why: str = ""


class Build(Told):
    """One build: its stages in their order, and what it changed."""

    began: datetime
    failed_stage: str = ""
    stages: tuple[StageRow, ...] = ()
    changes: tuple[Commit, ...] = ()
    not_seen: str = ""


class Log(Told):
    """The end of a log."""

    text: str = ""


class JenkinsTools:
    """One method a tool."""

    def __init__(self, client: Client, page: str) -> None:
        self._client = client
        self._page = page

    async def job(self, job: Job, limit: Limit = 10) -> Builds:
        """Show the last builds of a job: result, when each began and how long it took."""
        asked = {"tree": f"builds[{_BUILD}]{{0,{limit}}}"}
        found = (await self._client.get(_Job, f"{_path(job)}/api/json", asked)).builds
        failed = sum(one.result not in ("SUCCESS", None) for one in found)
        return Builds(
            said=f"Of the last {counted(len(found), 'build')} of {line(job)} {failed} failed.",
            link=f"{self._page}{_path(job)}/",
            builds=tuple(map(_row, found)),
        )

    async def build(self, job: Job, number: Number) -> Build:
        """Show one build: which of its stages failed and why, and what it changed."""
        path = f"{_path(job)}{at(number)}"
        asked = {"tree": f"{_BUILD},{_CHANGES}"}
        found = await self._client.get(_Whole, f"{path}/api/json", asked)
        stages, not_seen = await self._stages(path)
        broken = [one.name for one in stages if one.status == "FAILED"]
        state = _row(found).result
        return Build(
            said=f"Build {number} of {line(job)} is {state}{_where(broken)}.",
            link=f"{self._page}{path}/",
            began=moment(found.timestamp / 1000),
            failed_stage=line(broken[0]) if broken else "",
            stages=tuple(_stage(one) for one in stages),
            changes=tuple(_commit(one) for part in found.sets for one in part.items)[:20],
            not_seen=not_seen,
        )

    async def log(self, job: Job, number: Number, stage: Stage = "", lines: Lines = 60) -> Log:
        """Show the end of the log of a build, or of one of its stages."""
        path = f"{_path(job)}{at(number)}"
        rows = (await self._client.text(f"{path}/consoleText")).splitlines()
        told = [row for row in _of(rows, stage) if not row.startswith(_MARK)]
        if stage and not told:
            raise PermanentError(f"build {number} has no log of a stage {line(stage)!r}")
        return Log(
            said=f"The last {counted(len(told[-lines:]), 'line')} of {len(told)}.",
            link=f"{self._page}{path}/console",
            left_out=max(0, len(told) - lines) or None,
            text=clean("\n".join(told[-lines:]), LONGEST_LOG).text,
        )

    async def _stages(self, path: str) -> tuple[list[_Stage], str]:
        """Return the stages, or why there are none: a job need not be a pipeline."""
        try:
            return (await self._client.get(_Run, f"{path}/wfapi/describe")).stages, ""
        except PermanentError as error:
            return [], line(f"stages: {error}", _LONGEST)


def _path(job: str) -> str:
    """Return the address of a job: each folder and each name stands below `job`."""
    return "".join(at("job", step) for step in job.strip("/").split("/"))


def _row(one: _Build) -> BuildRow:
    result = "running" if one.building else one.result or "without a result"
    began = moment(one.timestamp / 1000)
    seconds = one.duration // 1000 or None
    return BuildRow(number=one.number, result=line(result), began=began, seconds=seconds)


def _where(broken: Sequence[str]) -> str:
    return f" in stage {line(broken[0])!r}" if broken else ""


def _stage(one: _Stage) -> StageRow:
    why = line(one.error.message, _LONGEST)
    return StageRow(name=line(one.name), status=line(one.status), why=why)


def _commit(one: _Change) -> Commit:
    return Commit(
        commit=line(one.commit), author=line(one.author.name), message=line(one.message, _LONGEST)
    )


def _of(rows: Sequence[str], stage: str) -> Iterator[str]:
    """Yield the lines of a stage, by the braces that a pipeline writes; all without a name."""
    depth = 0
    for row in rows:
        if depth or not stage:
            yield row
        if row == f"{_MARK}{{ ({stage})":
            depth += 1
        elif depth:
            depth += row.startswith(f"{_MARK}{{")
            depth -= row.startswith(f"{_MARK}}}")
