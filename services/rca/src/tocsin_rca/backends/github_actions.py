"""GitHub Actions: which workflows ran, which step failed and why, and what was deployed where."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from tocsin_agents.tools.signatures import Function
from tocsin_gitops.hosts.client import at
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Brief, Limit, Told, counted
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.options import BackendOptions

MOST_JOBS = 50
_LONGEST = 300
_FINE = ("success", "skipped", "neutral")

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}$")]
Repository = Annotated[str, Field(description="The repository, such as shop/web.")]
Branch = Annotated[str, Field(max_length=250, description="Only of this branch; empty for all.")]
RunId = Annotated[int, Field(ge=1, description="The id of the run, as `runs` shows it.")]
Environment = Annotated[
    str, Field(max_length=250, description="Only to this environment; empty for all.")
]


class GitHubActionsOptions(BackendOptions):
    """GitHub Actions; a token that may read actions, checks and deployments is enough."""

    usual_url: ClassVar[str] = "https://api.github.com"

    type: Literal["github-actions"]
    repositories: tuple[Name, ...] = Field(
        min_length=1, description="Repositories that may be asked about, such as shop/web."
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        told = GitHubActionsTools(client, self.repositories)
        return (told.runs, told.jobs, told.deployments)


class _Run(BaseModel):
    id: int
    name: str | None = None
    event: str = ""
    status: str | None = None
    conclusion: str | None = None
    branch: str | None = Field(default=None, alias="head_branch")
    commit: str = Field(alias="head_sha")
    began: AwareDatetime = Field(alias="created_at")
    url: str = Field(default="", alias="html_url")


class _Runs(BaseModel):
    total: int = Field(alias="total_count")
    runs: list[_Run] = Field(alias="workflow_runs")


class _Step(BaseModel):
    name: str
    conclusion: str | None = None


class _Job(BaseModel):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    url: str | None = Field(default=None, alias="html_url")
    steps: list[_Step] = []


class _Jobs(BaseModel):
    total: int = Field(alias="total_count")
    jobs: list[_Job]


class _Annotation(BaseModel):
    level: str | None = Field(default=None, alias="annotation_level")
    message: str | None = None


class _Deployment(BaseModel):
    environment: str
    ref: str
    commit: str = Field(alias="sha")
    at: AwareDatetime = Field(alias="created_at")


class RunRow(Brief):
    """A run of a workflow."""

    id: int
    workflow: str
    state: str
    branch: str = ""
    commit: str
    began: AwareDatetime
    why: str = ""


class Runs(Told):
    """Runs of workflows, the newest first."""

    runs: tuple[RunRow, ...] = ()


class JobRow(Brief):
    """A job: the step that failed, and what was said about it."""

    name: str
    state: str
    failed_step: str = ""
    why: tuple[str, ...] = ()
    link: str = ""


class Jobs(Told):
    """Jobs of one run, those that failed first."""

    jobs: tuple[JobRow, ...] = ()


class DeploymentRow(Brief):
    """A deployment."""

    at: AwareDatetime
    environment: str
    ref: str
    commit: str


class Deployments(Told):
    """Deployments, the newest first."""

    deployments: tuple[DeploymentRow, ...] = ()


class GitHubActionsTools:
    """One method a tool; no other repository is asked about than an operator names."""

    def __init__(self, client: Client, repositories: Sequence[str]) -> None:
        self._client = client
        self._repositories = tuple(repositories)

    async def runs(self, repository: Repository, branch: Branch = "", limit: Limit = 10) -> Runs:
        """Show the last runs of the workflows of a repository, and how each ended."""
        asked: Params = {"per_page": limit} | ({"branch": branch} if branch else {})
        found = await self._client.get(_Runs, f"{self._path(repository)}/actions/runs", asked)
        failed = sum(_state(one) not in (*_FINE, one.status) for one in found.runs)
        return Runs(
            said=f"Of the last {counted(len(found.runs), 'run')} of {repository} {failed} failed.",
            left_out=max(0, found.total - len(found.runs)) or None,
            runs=tuple(map(_run, found.runs)),
        )

    async def jobs(self, repository: Repository, run: RunId) -> Jobs:
        """Show the jobs of a run: which step of each failed, and what was said about it."""
        path = self._path(repository)
        asked: Params = {"per_page": MOST_JOBS, "filter": "latest"}
        found = await self._client.get(_Jobs, f"{path}/actions/runs{at(run)}/jobs", asked)
        failed = [one for one in found.jobs if one.conclusion not in (*_FINE, None)]
        others = [one for one in found.jobs if one not in failed]
        whys = [await self._why(path, one) for one in failed[:5]]
        told = [_job(one, why) for one, why in zip(failed, whys, strict=False)]
        told += [_job(one, ()) for one in (*failed[5:], *others)]
        return Jobs(
            said=f"{len(failed)} of {counted(len(found.jobs), 'job')} of run {run} failed.",
            left_out=max(0, found.total - len(found.jobs)) or None,
            jobs=tuple(told),
        )

    async def deployments(
        self, repository: Repository, environment: Environment = "", limit: Limit = 10
    ) -> Deployments:
        """Show what was deployed from a repository, to which environment and when."""
        asked: Params = {"per_page": limit} | ({"environment": environment} if environment else {})
        path = f"{self._path(repository)}/deployments"
        found = await self._client.get(list[_Deployment], path, asked)
        return Deployments(
            said=f"{counted(len(found), 'deployment')} of {repository}, the newest first.",
            deployments=tuple(map(_deployment, found)),
        )

    def _path(self, repository: str) -> str:
        if repository not in self._repositories:
            known = ", ".join(self._repositories)
            raise PermanentError(f"no repository {line(repository)!r}; known: {known}")
        return f"/repos{at(*repository.split('/'))}"

    async def _why(self, path: str, job: _Job) -> tuple[str, ...]:
        """Return what the run noted at a job: its log lies at another host, which is not asked."""
        noted = await self._client.get(
            list[_Annotation], f"{path}/check-runs{at(job.id)}/annotations", {"per_page": 10}
        )
        failures = (one for one in noted if one.level == "failure" and one.message)
        return tuple(line(one.message or "", _LONGEST) for one in failures)[:5]


def _state(one: _Run | _Job) -> str:
    return line(one.conclusion or one.status or "unknown")


def _run(one: _Run) -> RunRow:
    return RunRow(
        id=one.id,
        workflow=line(one.name or ""),
        state=_state(one),
        branch=line(one.branch or ""),
        commit=line(one.commit),
        began=one.began,
        why=line(one.event),
    )


def _job(one: _Job, why: tuple[str, ...]) -> JobRow:
    broken = (step.name for step in one.steps if step.conclusion not in (*_FINE, None))
    return JobRow(
        name=line(one.name),
        state=_state(one),
        failed_step=line(next(broken, "")),
        why=why,
        link=line(one.url or "", _LONGEST),
    )


def _deployment(one: _Deployment) -> DeploymentRow:
    return DeploymentRow(
        at=one.at, environment=line(one.environment), ref=line(one.ref), commit=line(one.commit)
    )
