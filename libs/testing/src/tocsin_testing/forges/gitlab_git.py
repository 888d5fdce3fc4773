"""The files and commits of a fake GitLab, each commit with an id of its own, whatever it holds."""

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any

from tocsin_testing.forges.bare import NEW_FILE, Entry
from tocsin_testing.forges.hosting import OPENED, Hosting
from tocsin_testing.forges.web import Answer, Asked, RefusedError

MOST_A_PAGE = 100


class GitLabRepository(Hosting):
    """Handlers of requests; `rest` is the path below the project."""

    before_commit: Callable[[], object] | None = None
    _seconds = 0

    def branch_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a branch."""
        head = self.bare.head(rest[2])
        if head is None:
            raise RefusedError(404, "404 Branch Not Found")
        return Answer(200, {"name": rest[2], "commit": self._committed(head), "protected": False})

    def commit_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a commit, or its diff."""
        if not self.bare.has(rest[2]):
            raise RefusedError(404, "404 Commit Not Found")
        if rest[3:] != ("diff",):
            return Answer(200, self._committed(rest[2]))
        parents = self.bare.stored(rest[2]).parents
        changed = self.bare.changed(parents[0], rest[2]) if parents else {}
        return Answer(200, asked.paged(diffs(changed), "per_page", MOST_A_PAGE))

    def tree_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """List a folder."""
        ref, folder = asked.query["ref"], asked.query.get("path", "")
        found = self.folder(self.revision(ref), folder)
        if folder and not found:
            raise RefusedError(404, "404 invalid revision or path Not Found")
        entries = [
            {
                "id": entry.oid,
                "name": entry.path.rpartition("/")[2],
                "type": entry.type,
                "path": entry.path,
                "mode": entry.mode,
            }
            for entry in found
        ]
        return Answer(200, asked.paged(entries, "per_page", MOST_A_PAGE))

    def file_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Show a file."""
        revision = self.revision(asked.query["ref"])
        entry = self.bare.entry(revision, rest[2])
        if entry is None:
            raise RefusedError(404, "404 File Not Found")
        data = self.bare.read(entry.oid)
        content = {
            "file_name": rest[2].rpartition("/")[2],
            "file_path": rest[2],
            "size": len(data),
            "encoding": "base64",
            "content": base64.b64encode(data).decode(),
            "content_sha256": hashlib.sha256(data).hexdigest(),
            "ref": asked.query["ref"],
            "blob_id": entry.oid,
            "commit_id": revision,
            "last_commit_id": self.last_change(revision, rest[2]),
            "execute_filemode": entry.mode == "100755",
        }
        return Answer(200, content)

    def commits_of(self, asked: Asked, rest: tuple[str, ...]) -> Answer:
        """Make a commit of many files at once."""
        body, branch = asked.body, asked.body["branch"]
        start, there = body.get("start_sha"), self.bare.head(branch)
        if start and there:
            said = f"A branch called '{branch}' already exists. Switch to that branch in order to"
            raise RefusedError(400, f"{said} make changes")
        if start and not self.bare.has(start):
            raise RefusedError(400, f"Cannot find start_sha '{start}'")
        if not start and not there:
            raise RefusedError(400, "You can only create or edit files when you are on a branch")
        if self.before_commit:
            self.before_commit()
        parent = start or self.bare.head(branch) or ""
        entries = [self._action(action, parent, start) for action in body["actions"]]
        self._seconds += 1
        commit = self.bare.commit_tree(
            self.bare.tree(parent, entries),
            [parent],
            body["commit_message"],
            (body.get("author_name", "bot"), body.get("author_email", "bot@host.example")),
            OPENED.replace(second=self._seconds % 60, minute=self._seconds // 60),
        )
        self.bare.move(branch, commit, None if start else parent)
        return Answer(201, self._committed(commit))

    def _action(self, action: dict[str, Any], parent: str, start: str | None) -> Entry:
        path = action["file_path"]
        entry = self.bare.entry(parent, path)
        if action["action"] == "create" and entry:
            raise RefusedError(400, "A file with this name already exists")
        if action["action"] == "update" and entry is None:
            raise RefusedError(400, "A file with this name doesn't exist")
        known = action.get("last_commit_id")
        if (
            known
            and entry
            and not start
            and self.last_change(known, path) != self.last_change(parent, path)
        ):
            said = "You are attempting to update a file that has changed since you started editing"
            raise RefusedError(400, f"{said} it.")
        text = action["content"]
        try:
            coded = action.get("encoding") == "base64"
            data = base64.b64decode(text, validate=True) if coded else text.encode()
        except binascii.Error:
            raise RefusedError(400, "content is not valid base64") from None
        return Entry(entry.mode if entry else NEW_FILE, "blob", self.bare.blob(data), path)

    def _committed(self, sha: str) -> dict[str, Any]:
        stored = self.bare.stored(sha)
        return {
            "id": stored.sha,
            "short_id": stored.sha[:8],
            "parent_ids": list(stored.parents),
            "title": stored.message.partition("\n")[0],
            "message": stored.message,
            "author_name": stored.author,
            "author_email": stored.email,
            "created_at": stored.at.isoformat(),
        }


def diffs(changed: dict[str, str]) -> list[dict[str, Any]]:
    """Show changed paths as GitLab does, without the text."""
    return [
        {
            "old_path": path,
            "new_path": path,
            "new_file": how == "A",
            "deleted_file": how == "D",
            "renamed_file": False,
            "diff": "",
        }
        for path, how in changed.items()
    ]
