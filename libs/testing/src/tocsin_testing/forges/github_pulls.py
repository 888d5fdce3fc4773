"""The pull requests and comments of a fake GitHub, over those that every fake host keeps."""

from dataclasses import dataclass

from tocsin_testing.forges.github_answers import (
    DESCRIPTION,
    SITE,
    Route,
    not_found,
    page,
    refused,
    time,
)
from tocsin_testing.forges.hosting import Hosting, Person, Pull, Said, State
from tocsin_testing.forges.openapi import Json
from tocsin_testing.forges.web import Answer, Asked

_ID, _FORK = 100, 200


@dataclass(frozen=True, slots=True)
class GitHubPulls:
    """What is below `pulls` and `issues` of one repository."""

    hosting: Hosting

    def routes(self) -> list[Route]:
        """Return what is answered."""
        return [
            ("GET", "pulls", self.listed),
            ("POST", "pulls", self.open),
            ("PATCH", r"pulls/(\d+)", self.edit),
            ("GET", r"pulls/(\d+)/files", self.files),
            ("GET", r"issues/(\d+)/comments", self.comments),
            ("POST", r"issues/(\d+)/comments", self.comment),
        ]

    def listed(self, asked: Asked) -> Answer:
        """Show pull requests by head, base and state; a head without its owner is no filter."""
        owner, _, head = asked.query.get("head", "").partition(":")
        base, state = asked.query.get("base"), asked.query.get("state", "open")
        found = (
            pull
            for pull in self.hosting.listed()
            if state in ("all", _state(pull))
            and (not base or pull.base == base)
            and (not head or (pull.head, _owner(self.hosting, pull)) == (head, owner))
        )
        return page(asked, (self._shown("pull-request-simple", pull) for pull in found))

    def open(self, asked: Asked) -> Answer:
        """Open one from a branch of the repository."""
        head, base = asked.body["head"], asked.body["base"]
        for name, branch in (("base", base), ("head", head)):
            if self.hosting.bare.head(branch) is None:
                return _invalid({"resource": "PullRequest", "field": name, "code": "invalid"})
        if self.hosting.twin(head, base):
            owner = self.hosting.name.partition("/")[0]
            return _invalid(_custom(f"A pull request already exists for {owner}:{head}."))
        who = self.hosting.who(asked.token)
        title, body = asked.body["title"], asked.body.get("body", "")
        opened = self.hosting.open(title, body, head, base, who)
        return Answer(201, self._shown("pull-request", opened))

    def edit(self, asked: Asked, number: str) -> Answer:
        """Change what one says."""
        pull = self.hosting.pull(int(number))
        pull.title = asked.body.get("title", pull.title)
        pull.body = asked.body.get("body", pull.body)
        return Answer(200, self._shown("pull-request", pull))

    def files(self, asked: Asked, number: str) -> Answer:
        """Show what one changes."""
        changed = self.hosting.touched(self.hosting.pull(int(number)))
        return page(asked, (DESCRIPTION.example("diff-entry", filename=path) for path in changed))

    def comments(self, asked: Asked, number: str) -> Answer:
        """Show what was said since a time."""
        since = asked.query.get("since", "")
        said = (one for one in self.hosting.said_on(int(number)) if time(one.at) >= since)
        return page(asked, map(_comment, said))

    def comment(self, asked: Asked, number: str) -> Answer:
        """Say something as who asks."""
        if not 0 < int(number) <= len(self.hosting.pulls):
            return not_found()
        who = self.hosting.who(asked.token)
        return Answer(201, _comment(self.hosting.say(int(number), who, asked.body["body"])))

    def _shown(self, schema: str, pull: Pull) -> Json:
        commit, merged = self.hosting.commit(pull), pull.state is State.MERGED
        ended = time(pull.ended) if pull.ended else None
        bys = {"merged_by": _user(pull.ended_by)} if merged and schema == "pull-request" else {}
        fork = _repo(_FORK, "someone/platform")
        ours = _repo(_ID, self.hosting.name)
        tip = self.hosting.bare.head(pull.base)
        return DESCRIPTION.example(
            schema,
            **bys,
            head=_side(pull.head, commit, fork if pull.of_fork else ours, pull.author),
            base=_side(pull.base, tip, ours, pull.author),
            number=pull.number,
            title=pull.title,
            body=pull.body,
            state=_state(pull),
            user=_user(pull.author),
            created_at=time(pull.opened),
            closed_at=ended,
            merged_at=ended if merged else None,
            merge_commit_sha=pull.merged_commit or commit,
            html_url=f"{SITE}/{self.hosting.name}/pull/{pull.number}",
        )


def _comment(said: Said) -> Json:
    return DESCRIPTION.example(
        "issue-comment",
        id=said.id,
        body=said.body,
        user=_user(said.author),
        created_at=time(said.at),
        updated_at=time(said.at),
        html_url=f"{SITE}/comments/{said.id}",
    )


def _state(pull: Pull) -> str:
    return "open" if pull.state is State.OPEN else "closed"


def _owner(hosting: Hosting, pull: Pull) -> str:
    return "someone" if pull.of_fork else hosting.name.partition("/")[0]


def _user(person: Person | None) -> Json | None:
    if person is None:
        return None
    return DESCRIPTION.example("simple-user", id=person.id, login=person.login)


def _repo(number: int, name: str) -> Json:
    return DESCRIPTION.example("repository", id=number, full_name=name)


def _side(ref: str, sha: str | None, repo: Json, author: Person) -> Json:
    return {"label": ref, "ref": ref, "sha": sha, "repo": repo, "user": _user(author)}


def _custom(message: str) -> Json:
    return {"resource": "PullRequest", "code": "custom", "message": message}


def _invalid(error: Json) -> Answer:
    return refused(422, "Validation Failed", error)
