"""The files, branches and commits of a fake Gitea."""

import base64
import binascii
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tocsin_testing.forges.bare import NEW_FILE, Entry
from tocsin_testing.forges.hosting import Hosting, Person
from tocsin_testing.forges.web import Answer, Asked, RefusedError

_TYPES = {"120000": "symlink", "160000": "submodule", "040000": "dir"}
_STATUS = {"A": "added", "M": "modified", "D": "removed"}


class GiteaRepository(Hosting):
    """Handlers of requests; `rest` is the path below the repository.

    `before_commit` is run right before a commit is made, as somebody who is faster.
    """

    before_commit: Callable[[], object] | None = None

    def branch_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a branch."""
        return Answer(200, self._branch("/".join(rest[1:])))

    def new_branch(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Make a branch at any commit."""
        name, start = asked.body["new_branch_name"], asked.body["old_ref_name"]
        if not self.bare.has(self.bare.head(start) or start):
            raise RefusedError(404, "The old branch does not exist")
        if self.bare.head(name):
            raise RefusedError(409, "The branch already exists.")
        self.bare.move(name, self.bare.head(start) or start, None)
        return Answer(201, self._branch(name))

    def commit_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a commit; its files unless they are not asked for."""
        if not self.bare.has(rest[2]):
            raise RefusedError(404, "The target couldn't be found.")
        stored = self.bare.stored(rest[2])
        with_files = asked.query.get("files", "true") == "true" and stored.parents
        changed = self.bare.changed(stored.parents[0], rest[2]) if with_files else {}
        who = {"name": stored.author, "email": stored.email, "date": stored.at.isoformat()}
        tree = {"sha": stored.tree}
        content = {
            "sha": stored.sha,
            "created": stored.at.isoformat(),
            "html_url": f"https://gitea.example/{self.name}/commit/{stored.sha}",
            "parents": [{"sha": parent} for parent in stored.parents],
            "files": [{"filename": path, "status": _STATUS[how]} for path, how in changed.items()],
            "commit": {"message": stored.message, "author": who, "committer": who, "tree": tree},
        }
        return Answer(200, content)

    def contents_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a file with its bytes, or what is in a folder."""
        path, revision = "/".join(rest[1:]), self.revision(asked.query.get("ref", "main"))
        entry = self.bare.entry(revision, path)
        if entry:
            return Answer(200, self._contents(entry, revision))
        found = self.folder(revision, path)
        if not found:
            raise RefusedError(404, "object does not exist")
        return Answer(200, [self._contents(one, revision, with_bytes=False) for one in found])

    def change_files(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Commit changes of many files at once, on a branch or on a new one made from it."""
        body = asked.body
        old, new = body["branch"], body.get("new_branch") or body["branch"]
        if self.bare.head(old) is None:
            raise RefusedError(404, f"branch does not exist [name: {old}]")
        if new != old and self.bare.head(new):
            raise RefusedError(422, f"branch already exists [name: {new}]")
        if self.before_commit:
            self.before_commit()
        parent = self.bare.head(old) or ""
        entries = [self._change(change, parent) for change in body["files"]]
        commit = self.bare.commit_tree(
            self.bare.tree(parent, entries),
            [parent],
            body["message"].strip() + "\n",
            (body["author"]["name"], body["author"]["email"]),
            datetime.fromisoformat(body["dates"]["author"]),
        )
        self.bare.move(new, commit, self.bare.head(new))
        files = [self._contents(entry, commit) for entry in entries]
        told = {"sha": commit, "message": body["message"], "parents": [{"sha": parent}]}
        return Answer(201, {"commit": told, "files": files, "verification": None})

    def _change(self, change: dict[str, str], parent: str) -> Entry:
        path, operation = change["path"], change["operation"]
        entry = self.bare.entry(parent, path)
        if operation == "update" and entry is None:
            raise RefusedError(404, f"object does not exist [id: , rel_path: {path}]")
        if operation == "update" and entry and change.get("sha") != entry.oid:
            given = change.get("sha")
            raise RefusedError(422, f"sha does not match [given: {given}, expected: {entry.oid}]")
        if operation == "create" and entry:
            raise RefusedError(422, f"repository file already exists [path: {path}]")
        if entry and entry.mode in _TYPES:
            raise RefusedError(422, f"a symbolic link exists [path: {path}]")
        try:
            data = base64.b64decode(change["content"], validate=True)
        except binascii.Error:
            raise RefusedError(422, "illegal base64 data") from None
        return Entry(entry.mode if entry else NEW_FILE, "blob", self.bare.blob(data), path)

    def _branch(self, name: str) -> dict[str, Any]:
        head = self.bare.head(name)
        if head is None:
            raise RefusedError(404, "The target couldn't be found.")
        stored = self.bare.stored(head)
        who = {"name": stored.author, "email": stored.email}
        commit = {"id": head, "message": stored.message, "author": who, "committer": who}
        timed = {**commit, "timestamp": stored.at.isoformat()}
        return {"name": name, "commit": timed, "protected": False, "user_can_merge": True}

    def _contents(self, entry: Entry, revision: str, *, with_bytes: bool = True) -> dict[str, Any]:
        kind = _TYPES.get(entry.mode, "file")
        is_file = with_bytes and kind == "file"
        data = self.bare.read(entry.oid) if is_file else b""
        return {
            "name": entry.path.rpartition("/")[2],
            "path": entry.path,
            "sha": entry.oid,
            "type": kind,
            "size": len(data),
            "encoding": "base64" if is_file else None,
            "content": base64.b64encode(data).decode() if is_file else None,
            "last_commit_sha": revision,
        }


def user(person: Person) -> dict[str, Any]:
    """Show somebody."""
    return {"id": person.id, "login": person.login, "full_name": "", "is_admin": False}
