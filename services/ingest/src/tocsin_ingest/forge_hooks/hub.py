"""The shape that GitHub gave its webhooks and that Gitea took over."""

from collections.abc import Callable, Mapping

from tocsin_contracts import ForgeAuthor, ForgeEventKind, ForgeEventReceived
from tocsin_ingest.forge_hooks.telling import Teller, branch_of
from tocsin_ingest.sources.reading import Sent

Meaning = Mapping[tuple[str, str], Callable[[Teller], ForgeEventReceived | None]]
"""What a kind of webhook with an action says; what is not in it says nothing to us."""


class User(Sent):
    """Who did it."""

    id: int
    login: str = ""
    type: str = ""


class Repository(Sent):
    """A repository by its whole name."""

    full_name: str


class Head(Sent):
    """Where the changes come from; the fork may be gone."""

    ref: str
    repo: Repository | None = None


class Pull(Sent):
    """A pull request."""

    number: int
    html_url: str = ""
    head: Head
    merged: bool | None = None
    merge_commit_sha: str | None = None


class Issue(Sent):
    """What a comment hangs on: forges keep pull requests among their issues."""

    number: int
    html_url: str = ""
    pull_request: dict[str, object] | None = None


class Words(Sent):
    """A comment, or what stands above a review."""

    body: str | None = None
    content: str | None = None

    @property
    def text(self) -> str:
        """What was written, whatever its forge calls it."""
        return self.body or self.content or ""


class Hook(Sent):
    """What all of them share."""

    repository: Repository
    sender: User

    @property
    def author(self) -> ForgeAuthor:
        """Who did it, by an id that stays."""
        who = self.sender
        return ForgeAuthor(id=str(who.id), login=who.login, is_bot=who.type == "Bot")


class PullHook(Hook):
    """A pull request was closed, opened anew or pushed to."""

    pull_request: Pull


class ReviewHook(PullHook):
    """Somebody reviewed a pull request."""

    review: Words


class LineCommentHook(PullHook):
    """Somebody commented on a line."""

    comment: Words


class IssueCommentHook(Hook):
    """Somebody commented."""

    issue: Issue
    comment: Words
    pull_request: Pull | None = None


class PushHook(Hook):
    """Somebody pushed."""

    ref: str
    after: str


def closed(teller: Teller) -> ForgeEventReceived:
    """Return whether a pull request that is no longer open was merged."""
    hook = teller.read(PullHook)
    merged = hook.pull_request.merged
    return _about(teller, hook, ForgeEventKind.MERGED if merged else ForgeEventKind.CLOSED)


def reopened(teller: Teller) -> ForgeEventReceived:
    """Return that a pull request is open again."""
    return _about(teller, teller.read(PullHook), ForgeEventKind.REOPENED)


def pushed_to(teller: Teller) -> ForgeEventReceived:
    """Return that a pull request got other commits."""
    return _about(teller, teller.read(PullHook), ForgeEventKind.PUSHED)


def reviewed(teller: Teller) -> ForgeEventReceived | None:
    """Return what a review says; one without words says nothing to us."""
    hook = teller.read(ReviewHook)
    said = hook.review.text
    return _about(teller, hook, ForgeEventKind.COMMENTED, said) if said.strip() else None


def line_commented(teller: Teller) -> ForgeEventReceived:
    """Return a comment on a line."""
    hook = teller.read(LineCommentHook)
    return _about(teller, hook, ForgeEventKind.COMMENTED, hook.comment.text)


def commented(teller: Teller) -> ForgeEventReceived | None:
    """Return a comment on a pull request; other issues are none of our business."""
    hook = teller.read(IssueCommentHook)
    pull = hook.pull_request
    if hook.issue.pull_request is None and pull is None:
        return None
    return teller.tell(
        ForgeEventKind.COMMENTED,
        hook.repository.full_name,
        hook.author,
        number=hook.issue.number,
        head_branch=_branch(hook.repository, pull.head) if pull else "",
        url=pull.html_url if pull else hook.issue.html_url,
        body=hook.comment.text,
    )


def pushed(teller: Teller) -> ForgeEventReceived | None:
    """Return a push to a branch; tags and deletions are none of our business."""
    hook = teller.read(PushHook)
    branch = branch_of(hook.ref, hook.after)
    if not branch:
        return None
    repo = hook.repository.full_name
    return teller.tell(ForgeEventKind.PUSHED, repo, hook.author, head_branch=branch)


def _about(
    teller: Teller, hook: PullHook, kind: ForgeEventKind, said: str = ""
) -> ForgeEventReceived:
    pull = hook.pull_request
    return teller.tell(
        kind,
        hook.repository.full_name,
        hook.author,
        number=pull.number,
        head_branch=_branch(hook.repository, pull.head),
        url=pull.html_url,
        body=said,
        merged_commit=(pull.merge_commit_sha or "") if kind is ForgeEventKind.MERGED else "",
    )


def _branch(base: Repository, head: Head) -> str:
    """A fork may call its branch as ours is called; it must never be taken for ours."""
    if head.repo and head.repo.full_name.lower() == base.full_name.lower():
        return head.ref
    owner = head.repo.full_name.partition("/")[0] if head.repo else "unknown"
    return f"{owner}:{head.ref}"
