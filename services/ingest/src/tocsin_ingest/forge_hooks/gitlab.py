"""GitLab's webhooks about merge requests, notes and pushes."""

from collections.abc import Callable, Mapping

from tocsin_contracts import ForgeAuthor, ForgeEventKind, ForgeEventReceived, ForgeKind
from tocsin_ingest.forge_hooks.telling import Teller, branch_of, header, text_at
from tocsin_ingest.ports import Delivery
from tocsin_ingest.sources.reading import Sent

_KINDS = {
    "merge": ForgeEventKind.MERGED,
    "close": ForgeEventKind.CLOSED,
    "reopen": ForgeEventKind.REOPENED,
    "update": ForgeEventKind.PUSHED,
}


class _User(Sent):
    id: int
    username: str = ""


class _Project(Sent):
    path_with_namespace: str


class _Commit(Sent):
    id: str


class _MergeRequest(Sent):
    iid: int
    source_branch: str
    source: _Project | None = None
    url: str = ""


class _Change(_MergeRequest):
    action: str = ""
    oldrev: str | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    last_commit: _Commit | None = None

    @property
    def merged_commit(self) -> str:
        """The commit at the target; a fast-forward makes none of its own."""
        made = self.merge_commit_sha or self.squash_commit_sha
        return made or (self.last_commit.id if self.last_commit else "")


class _Note(Sent):
    note: str
    url: str = ""
    system: bool = False
    action: str = "create"


class _Hook(Sent):
    project: _Project
    user: _User

    @property
    def author(self) -> ForgeAuthor:
        return ForgeAuthor(id=str(self.user.id), login=self.user.username)


class _ChangeHook(_Hook):
    object_attributes: _Change


class _NoteHook(_Hook):
    object_attributes: _Note
    merge_request: _MergeRequest | None = None


class _PushHook(Sent):
    project: _Project
    ref: str
    after: str
    user_id: int
    user_username: str = ""


def read_hook(delivery: Delivery) -> ForgeEventReceived | None:
    """Return what GitLab tells.

    Hooks that one event sets off share its id, so what they are about is part of ours.
    """
    delivery_id = header(delivery, "idempotency-key", "webhook-id", "x-gitlab-event-uuid")
    told = _MEANING.get(text_at(delivery.payload, "object_kind"))
    return told(Teller(ForgeKind.GITLAB, delivery, delivery_id)) if told else None


def _changed(teller: Teller) -> ForgeEventReceived | None:
    hook = teller.read(_ChangeHook)
    change = hook.object_attributes
    kind = _KINDS.get(change.action)
    if kind is None or (kind is ForgeEventKind.PUSHED and not change.oldrev):
        return None
    return teller.tell(
        kind,
        hook.project.path_with_namespace,
        hook.author,
        number=change.iid,
        head_branch=_branch(hook.project, change),
        url=change.url,
        merged_commit=change.merged_commit if kind is ForgeEventKind.MERGED else "",
    )


def _noted(teller: Teller) -> ForgeEventReceived | None:
    hook = teller.read(_NoteHook)
    note, request = hook.object_attributes, hook.merge_request
    if request is None or note.system or note.action != "create":
        return None
    return teller.tell(
        ForgeEventKind.COMMENTED,
        hook.project.path_with_namespace,
        hook.author,
        number=request.iid,
        head_branch=_branch(hook.project, request),
        url=request.url or note.url.partition("#")[0],
        body=note.note,
    )


def _pushed(teller: Teller) -> ForgeEventReceived | None:
    hook = teller.read(_PushHook)
    branch = branch_of(hook.ref, hook.after)
    if not branch:
        return None
    author = ForgeAuthor(id=str(hook.user_id), login=hook.user_username)
    repo = hook.project.path_with_namespace
    return teller.tell(ForgeEventKind.PUSHED, repo, author, head_branch=branch)


def _branch(target: _Project, request: _MergeRequest) -> str:
    """A fork may call its branch as ours is called; it must never be taken for ours."""
    here = target.path_with_namespace.lower()
    if request.source and request.source.path_with_namespace.lower() == here:
        return request.source_branch
    owner = request.source.path_with_namespace.rpartition("/")[0] if request.source else "unknown"
    return f"{owner}:{request.source_branch}"


_MEANING: Mapping[str, Callable[[Teller], ForgeEventReceived | None]] = {
    "merge_request": _changed,
    "note": _noted,
    "push": _pushed,
}
