"""A GitLab with one project: the part of its API that is used, over a real bare repository."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tocsin_testing.forges.gitlab_git import MOST_A_PAGE, GitLabRepository, diffs
from tocsin_testing.forges.hosting import Person, Pull, Said, State
from tocsin_testing.forges.web import Answer, Asked, RefusedError

PREFIX = "/api/v4"
_ID, _FORK = 41, 42
_STATES = {State.OPEN: "opened", State.CLOSED: "closed", State.MERGED: "merged"}
_Handler = Callable[[Asked, tuple[str, ...]], Answer]


class FakeGitLab(GitLabRepository):
    """Answers as GitLab does; each commit has an id of its own, whatever it holds.

    `before_commit` is run right before a commit is made, as somebody who is faster.
    """

    prefix = PREFIX

    def answer(self, asked: Asked) -> Answer:
        """Answer a request, or raise RefusedError."""
        person = self.who(asked.token)
        if asked.path == ("user",):
            return Answer(200, {"id": person.id, "username": person.login})
        if asked.path[:2] != ("projects", self.name) and asked.path[:2] != ("projects", str(_ID)):
            raise RefusedError(404, "404 Project Not Found")
        rest = asked.path[2:]
        if not rest:
            return Answer(200, {"id": _ID, "path_with_namespace": self.name})
        if asked.method != "GET":
            self.writer(asked.token)
        kind = (asked.method, rest[0], *rest[1:2]) if rest[0] == "repository" else rest[:1]
        return self._route(asked, rest, kind)

    def _route(self, asked: Asked, rest: tuple[str, ...], kind: tuple[str, ...]) -> Answer:
        handlers: dict[tuple[str, ...], _Handler] = {
            ("GET", "repository", "branches"): self.branch_of,
            ("GET", "repository", "commits"): self.commit_of,
            ("POST", "repository", "commits"): self.commits_of,
            ("GET", "repository", "tree"): self.tree_of,
            ("GET", "repository", "files"): self.file_of,
            ("merge_requests",): self._merge_requests,
        }
        if kind not in handlers:
            raise RefusedError(404, "404 Not Found")
        return handlers[kind](asked, rest)

    def _merge_requests(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        if not rest[1:]:
            return self._opened(asked) if asked.method == "POST" else self._listed(asked)
        pull = self.pull(int(rest[1]))
        if rest[2:] == ("diffs",):
            touched = diffs(self.touched(pull))
            return Answer(200, asked.paged(touched, "per_page", MOST_A_PAGE))
        if rest[2:3] == ("notes",):
            return self._notes(asked, pull)
        if asked.method == "PUT":
            pull.title = asked.body.get("title", pull.title)
            pull.body = asked.body.get("description", pull.body)
            if asked.body.get("state_event") == "close":
                self.close(pull.number, self.who(asked.token))
        return Answer(200, self._shown(pull))

    def _opened(self, asked: Asked) -> Answer:
        body = asked.body
        head, base = body["source_branch"], body["target_branch"]
        if self.bare.head(head) is None:
            raise RefusedError(400, {"source_branch": ["does not exist"]})
        twin = self.twin(head, base)
        if twin:
            said = "Another open merge request already exists for this source branch"
            raise RefusedError(409, [f"{said}: !{twin.number}"])
        description = body.get("description", "")
        pull = self.open(body["title"], description, head, base, self.who(asked.token))
        return Answer(201, self._shown(pull))

    def _listed(self, asked: Asked) -> Answer:
        names = ("source_branch", "target_branch", "state")
        shown = [self._shown(pull) for pull in self.listed()]
        found = [
            one for one in shown if all(asked.query.get(n, "all") in ("all", one[n]) for n in names)
        ]
        return Answer(200, asked.paged(found, "per_page", MOST_A_PAGE))

    def _notes(self, asked: Asked, pull: Pull) -> Answer:
        if asked.method == "POST":
            said = self.say(pull.number, self.who(asked.token), asked.body["body"])
            return Answer(201, _note(said))
        notes = [_note(said) for said in self.said_on(pull.number)]
        newest_first = asked.query.get("sort", "desc") == "desc"
        listed = notes[::-1] if newest_first else notes
        return Answer(200, asked.paged(listed, "per_page", MOST_A_PAGE))

    def _shown(self, pull: Pull) -> dict[str, Any]:
        commit = self.commit(pull)
        merged = pull.state is State.MERGED
        ended = _time(pull.ended)
        return {
            "id": 9000 + pull.number,
            "iid": pull.number,
            "project_id": _ID,
            "title": pull.title,
            "description": pull.body,
            "state": _STATES[pull.state],
            "created_at": _time(pull.opened),
            "web_url": f"https://gitlab.example/{self.name}/-/merge_requests/{pull.number}",
            "source_branch": pull.head,
            "target_branch": pull.base,
            "source_project_id": _FORK if pull.of_fork else _ID,
            "target_project_id": _ID,
            "author": _user(pull.author),
            "sha": commit,
            "merged_at": ended if merged else None,
            "closed_at": None if merged else ended,
            "merge_user": _user(pull.ended_by) if merged else None,
            "merged_by": _user(pull.ended_by) if merged else None,
            "closed_by": None if merged else _user(pull.ended_by),
            "merge_commit_sha": pull.merged_commit or None,
            "squash_commit_sha": None,
        }


def _note(said: Said) -> dict[str, Any]:
    return {
        "id": said.id,
        "body": said.body,
        "author": _user(said.author),
        "created_at": _time(said.at),
        "system": said.system,
    }


def _user(person: Person | None) -> dict[str, Any] | None:
    return {"id": person.id, "username": person.login} if person else None


def _time(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds") if at else None
