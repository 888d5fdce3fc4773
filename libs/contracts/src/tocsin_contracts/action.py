"""What was done to a forge, what people did with it there, and whether it helped."""

from typing import ClassVar

from pydantic import AwareDatetime, Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.diagnosis import Hypothesis
from tocsin_contracts.event import Event
from tocsin_contracts.forge import Remark
from tocsin_contracts.plan import Plan
from tocsin_contracts.states import RunState


class PullRequestOpened(Event):
    """The approved plan is a pull request now."""

    topic: ClassVar[str] = "action.pull-request-opened.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_OPEN

    repo: str
    url: str
    head_branch: str
    commit: str
    plan_hash: str
    title: str
    number: int = Field(default=0, description="On its forge; 0 if it was not told.")
    issue_key: str = ""


class PullRequestUpdated(Event):
    """The approved plan is one more commit of a pull request that was open already."""

    topic: ClassVar[str] = "action.pull-request-updated.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_OPEN

    repo: str
    url: str
    head_branch: str
    commit: str
    plan_hash: str
    title: str
    number: int
    issue_key: str


class PullRequestCommented(Event):
    """A pull request of ours was told, once, that its alert came in again, or got an answer."""

    topic: ClassVar[str] = "action.pull-request-commented.v1"

    url: str
    comment: str = Field(description="The forge's own id of the comment.")
    comment_url: str = ""
    remark: Remark | None = Field(default=None, description="The comment that it answers.")


class PullRequestMerged(Event):
    """People merged the pull request; whether it helps is to be seen."""

    topic: ClassVar[str] = "action.pull-request-merged.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_MERGED

    url: str
    by: str = Field(default="", description="The forge's id of who did it, if it was told.")
    merged_at: AwareDatetime
    merged_commit: str = ""


class PullRequestClosed(Event):
    """People closed the pull request without merging it, which is their word on the issue."""

    topic: ClassVar[str] = "action.pull-request-closed.v1"

    url: str
    by: str = Field(default="", description="The forge's id of who did it, if it was told.")
    closed_at: AwareDatetime
    until: AwareDatetime = Field(description="Nothing is proposed for the issue before.")


class FixDeployed(Event):
    """A GitOps controller has brought the merged fix to the cluster, and calls it healthy."""

    topic: ClassVar[str] = "action.fix-deployed.v1"

    url: str
    by: str = Field(description="Who says so, such as Argo CD.")
    revision: str = Field(description="The commit that the cluster is at; it holds the fix.")
    synced_at: AwareDatetime | None = Field(
        default=None, description="When it came there, if the controller tells that."
    )


class FixVerified(Event):
    """The alerts cleared after the merge, and stayed clear."""

    topic: ClassVar[str] = "action.fix-verified.v1"

    url: str
    minutes: float = Field(ge=0, description="From the merge until the alerts had cleared.")


class FixIneffective(Event):
    """The alerts fire on although the fix was merged; an undo may be proposed."""

    topic: ClassVar[str] = "action.fix-ineffective.v1"
    moves_to: ClassVar[RunState | None] = RunState.VALIDATING

    alert: Alert
    hypothesis: Hypothesis
    plan: Plan = Field(description="What was merged.")
    url: str
    merged_at: AwareDatetime
    commits: tuple[str, ...] = Field(
        default=(), description="Ours and the merged one: either may stand in the base's history."
    )
    why: str
