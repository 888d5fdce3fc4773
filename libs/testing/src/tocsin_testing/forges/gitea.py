"""A Gitea with one repository: the part of its API that is used, over a real bare repository."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tocsin_testing.forges.gitea_git import GiteaRepository, user
from tocsin_testing.forges.hosting import Pull, Said, State
from tocsin_testing.forges.web import Answer, Asked, RefusedError

MOST_A_PAGE = 50
_ID, _FORK = 51, 52
_Handler = Callable[[Asked, tuple[str, ...]], Answer]


class FakeGitea(GiteaRepository):
    """Answers as Gitea does; `most_a_page` is what its operator allows."""

    prefix = "/api/v1"
    most_a_page = MOST_A_PAGE

    def answer(self, asked: Asked) -> Answer:
        """Answer a request, or raise RefusedError."""
        person = self.who(asked.token)
        if asked.path == ("user",):
            return Answer(200, user(person))
        if asked.path[:1] != ("repos",) or "/".join(asked.path[1:3]) != self.name:
            raise RefusedError(404, "The target couldn't be found.")
        if asked.method != "GET":
            self.writer(asked.token)
        rest = asked.path[3:]
        handlers: dict[tuple[str, ...], _Handler] = {
            ("GET", "branches"): self.branch_of,
            ("POST", "branches"): self.new_branch,
            ("GET", "git"): self.commit_of,
            ("GET", "contents"): self.contents_of,
            ("POST", "contents"): self.change_files,
            ("GET", "pulls"): self._pulls,
            ("POST", "pulls"): self._opened,
            ("PATCH", "pulls"): self._edited,
            ("GET", "issues"): self._comments,
            ("POST", "issues"): self._commented,
        }
        kind = (asked.method, *rest[:1])
        if kind not in handlers:
            raise RefusedError(404, "Not Found")
        return handlers[kind](asked, rest)

    def _pulls(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        if not rest[1:]:
            return Answer(200, self._listed(asked))
        pull = self.pull(int(rest[1]))
        if rest[2:] != ("files",):
            return Answer(200, self._shown(pull))
        touched = [{"filename": path, "status": how} for path, how in self.touched(pull).items()]
        return Answer(200, asked.paged(touched, "limit", self.most_a_page))

    def _listed(self, asked: Asked) -> list[Any]:
        state, base = asked.query.get("state", "open"), asked.query.get("base_branch", "")
        found = [
            self._shown(pull)
            for pull in self.listed()
            if state in ("all", _state(pull)) and base in ("", pull.base)
        ]
        return asked.paged(found, "limit", self.most_a_page)

    def _opened(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        body = asked.body
        head, base = body["head"], body["base"]
        if self.bare.head(head) is None:
            raise RefusedError(404, "The target couldn't be found.")
        if self.twin(head, base):
            raise RefusedError(409, "pull request already exists for these targets")
        author = self.who(asked.token)
        pull = self.open(body["title"], body.get("body", ""), head, base, author)
        return Answer(201, self._shown(pull))

    def _edited(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        pull = self.pull(int(rest[1]))
        pull.title = asked.body.get("title", pull.title)
        pull.body = asked.body.get("body", pull.body)
        if asked.body.get("state") == "closed":
            self.close(pull.number, self.who(asked.token))
        return Answer(201, self._shown(pull))

    def _comments(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        since = datetime.fromisoformat(asked.query.get("since", "1970-01-01T00:00:00+00:00"))
        said = [one for one in self.said_on(int(rest[1])) if one.at >= since]
        return Answer(200, [self._said(one) for one in said])

    def _commented(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        said = self.say(int(rest[1]), self.who(asked.token), asked.body["body"])
        return Answer(201, self._said(said))

    def _said(self, said: Said) -> dict[str, Any]:
        return {
            "id": said.id,
            "body": said.body,
            "user": user(said.author),
            "created_at": _time(said.at),
            "updated_at": _time(said.at),
            "html_url": f"{self._url(said.pull)}#issuecomment-{said.id}",
        }

    def _shown(self, pull: Pull) -> dict[str, Any]:
        commit = self.commit(pull)
        is_merged = pull.state is State.MERGED
        is_there = self.bare.head(pull.head) is not None
        head = {
            "label": pull.head,
            "ref": pull.head if is_there else f"refs/pull/{pull.number}/head",
            "sha": commit,
            "repo_id": _FORK if pull.of_fork else _ID,
        }
        base_sha = self.bare.head(pull.base) or ""
        return {
            "id": 9000 + pull.number,
            "number": pull.number,
            "title": pull.title,
            "body": pull.body,
            "user": user(pull.author),
            "state": _state(pull),
            "html_url": self._url(pull.number),
            "created_at": _time(pull.opened),
            "closed_at": _time(pull.ended),
            "merged": is_merged,
            "merged_at": _time(pull.ended) if is_merged else None,
            "merged_by": user(pull.ended_by) if is_merged and pull.ended_by else None,
            "merge_commit_sha": pull.merged_commit or None,
            "head": head,
            "base": {"label": pull.base, "ref": pull.base, "sha": base_sha, "repo_id": _ID},
        }

    def _url(self, number: int) -> str:
        return f"https://gitea.example/{self.name}/pulls/{number}"


def _state(pull: Pull) -> str:
    return "open" if pull.state is State.OPEN else "closed"


def _time(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None
