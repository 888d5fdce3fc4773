"""GitLab CI: which pipelines ran, which job failed and what it wrote, what was deployed where."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import clean, line
from tocsin_rca.backends.answers import Brief, Limit, Told, counted
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.options import BackendOptions

MOST_JOBS = 100
MOST_LINES = 200
LONGEST_LOG = 6000
_LONGEST = 300
_MARKS = ("section_start:", "section_end:")

Path = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$")
]
Project = Annotated[str, Field(description="The project with its groups, such as shop/web.")]
Ref = Annotated[
    str, Field(max_length=250, description="Only of this branch or tag; empty for all.")
]
Pipeline = Annotated[int, Field(ge=1, description="The id of the pipeline.")]
JobId = Annotated[int, Field(ge=1, description="The id of the job, as `jobs` shows it.")]
Lines = Annotated[int, Field(ge=1, le=MOST_LINES, description="How many of the last lines.")]
Environment = Annotated[
    str, Field(max_length=250, description="Only to this environment; empty for all.")
]


class GitLabCiOptions(BackendOptions):
    """GitLab CI; `url` is that of the GitLab, and a token with `read_api` is enough."""

    type: Literal["gitlab-ci"]
    projects: tuple[Path, ...] = Field(
        min_length=1, description="Projects that may be asked about, such as shop/web."
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = GitLabCiTools(client, self.projects)
        return (told.pipelines, told.jobs, told.log, told.deployments)


class _Pipeline(BaseModel):
    id: int
    status: str
    ref: str
    commit: str = Field(alias="sha")
    began: AwareDatetime = Field(alias="created_at")
    cause: str = Field(default="", alias="source")
    url: str = Field(default="", alias="web_url")


class _Job(BaseModel):
    id: int
    name: str
    stage: str
    status: str
    why: str | None = Field(default=None, alias="failure_reason")
    allowed: bool = Field(default=False, alias="allow_failure")
    url: str = Field(default="", alias="web_url")


class _Environment(BaseModel):
    name: str


class _Deployment(BaseModel):
    status: str
    ref: str
    commit: str = Field(alias="sha")
    at: AwareDatetime = Field(alias="created_at")
    environment: _Environment


class PipelineRow(Brief):
    """A pipeline, and what began it."""

    id: int
    status: str
    ref: str
    commit: str
    began: AwareDatetime
    cause: str = ""


class Pipelines(Told):
    """Pipelines, the newest first."""

    pipelines: tuple[PipelineRow, ...] = ()


class JobRow(Brief):
    """A job, and why it failed; `may_fail` is one whose failure stops nothing."""

    id: int
    name: str
    stage: str
    status: str
    why: str = ""
    may_fail: bool | None = None
    link: str = ""


class Jobs(Told):
    """Jobs of one pipeline, those that failed first."""

    jobs: tuple[JobRow, ...] = ()


class Log(Told):
    """The end of a log."""

    text: str = ""


class DeploymentRow(Brief):
    """A deployment."""

    at: AwareDatetime
    environment: str
    status: str
    ref: str
    commit: str


class Deployments(Told):
    """Deployments, the newest first."""

    deployments: tuple[DeploymentRow, ...] = ()


class GitLabCiTools:
    """One method a tool; no other project is asked about than an operator names."""

    def __init__(self, client: Client, projects: Sequence[str]) -> None:
        self._client = client
        self._projects = tuple(projects)

    async def pipelines(self, project: Project, ref: Ref = "", limit: Limit = 10) -> Pipelines:
        """Show the last pipelines of a project, and how each ended."""
        asked: Params = {"per_page": limit} | ({"ref": ref} if ref else {})
        found = await self._client.get(list[_Pipeline], f"{self._path(project)}/pipelines", asked)
        failed = sum(one.status == "failed" for one in found)
        return Pipelines(
            said=f"Of the last {counted(len(found), 'pipeline')} of {project} {failed} failed.",
            pipelines=tuple(map(_pipeline, found)),
        )

    async def jobs(self, project: Project, pipeline: Pipeline, limit: Limit = 20) -> Jobs:
        """Show the jobs of a pipeline with their stages, and why those that failed did."""
        path = f"{self._path(project)}/pipelines{at(pipeline)}/jobs"
        found = await self._client.get(list[_Job], path, {"per_page": MOST_JOBS})
        found.sort(key=lambda one: one.status != "failed")
        failed = sum(one.status == "failed" for one in found)
        return Jobs(
            said=f"{failed} of {counted(len(found), 'job')} of pipeline {pipeline} failed.",
            left_out=max(0, len(found) - limit) or None,
            jobs=tuple(_job(one) for one in found[:limit]),
        )

    async def log(self, project: Project, job: JobId, lines: Lines = 60) -> Log:
        """Show the end of the log of a job."""
        text = await self._client.text(f"{self._path(project)}/jobs{at(job)}/trace")
        rows = (row.rstrip() for row in clean(text, len(text)).text.splitlines())
        told = [row for row in rows if row and not row.startswith(_MARKS)]
        return Log(
            said=f"The last {counted(len(told[-lines:]), 'line')} of {len(told)}.",
            left_out=max(0, len(told) - lines) or None,
            text=clean("\n".join(told[-lines:]), LONGEST_LOG).text,
        )

    async def deployments(
        self, project: Project, environment: Environment = "", limit: Limit = 10
    ) -> Deployments:
        """Show what was deployed from a project, to which environment, when and how it ended."""
        asked: dict[str, str | int] = {"per_page": limit, "order_by": "created_at", "sort": "desc"}
        asked |= {"environment": environment} if environment else {}
        path = f"{self._path(project)}/deployments"
        found = await self._client.get(list[_Deployment], path, asked)
        return Deployments(
            said=f"{counted(len(found), 'deployment')} of {project}, the newest first.",
            deployments=tuple(map(_deployment, found)),
        )

    def _path(self, project: str) -> str:
        if project not in self._projects:
            known = ", ".join(self._projects)
            raise PermanentError(f"no project {line(project)!r}; known: {known}")
        return f"/api/v4/projects{at(project)}"


def _pipeline(one: _Pipeline) -> PipelineRow:
    return PipelineRow(
        id=one.id,
        status=line(one.status),
        ref=line(one.ref),
        commit=line(one.commit),
        began=one.began,
        cause=line(one.cause),
    )


def _job(one: _Job) -> JobRow:
    return JobRow(
        id=one.id,
        name=line(one.name),
        stage=line(one.stage),
        status=line(one.status),
        why=line(one.why or "", _LONGEST),
        may_fail=one.allowed or None,
        link=line(one.url, _LONGEST),
    )


def _deployment(one: _Deployment) -> DeploymentRow:
    return DeploymentRow(
        at=one.at,
        environment=line(one.environment.name),
        status=line(one.status),
        ref=line(one.ref),
        commit=line(one.commit),
    )
