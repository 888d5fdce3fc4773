"""The same repository without a process for each step: its objects and refs as git writes them."""

import functools
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from tocsin_testing.forges.bare import MADE, PEOPLE, Bare, Entry, Stored

FOLDER = "040000"
_KINDS = {FOLDER: "tree", "160000": "commit"}


@dataclass(frozen=True, slots=True)
class Loose(Bare):
    """Reads and writes loose objects, of a repository that was never packed."""

    def put(self, kind: str, data: bytes) -> str:
        """Store an object; return its id."""
        whole = f"{kind} {len(data)}\0".encode() + data
        oid = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        file = self._file(oid)
        if not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(zlib.compress(whole, 1))
        return oid

    def get(self, oid: str, kind: str) -> bytes:
        """Return an object of a kind; LookupError if there is none."""
        try:
            head, _, data = _unpacked(str(self.git_dir), oid).partition(b"\0")
        except OSError:
            raise LookupError(f"no object {oid!r}") from None
        if head.split()[0].decode() != kind:
            raise LookupError(f"{oid!r} is no {kind}")
        return data

    def has(self, name: str) -> bool:
        """Whether there is an object of that id."""
        return name.isalnum() and self._file(name).is_file()

    def head(self, branch: str) -> str | None:
        """Return where a branch is, or None."""
        try:
            return self._ref(branch).read_text(encoding="ascii").strip()
        except OSError:
            return None

    def move(self, branch: str, to: str, old: str | None) -> None:
        """Move a branch that is still where it was (None: not there) to a commit."""
        if self.head(branch) != old:
            raise LookupError(f"{branch!r} is not at {old!r}")
        ref = self._ref(branch)
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{to}\n", encoding="ascii")

    def drop(self, branch: str) -> None:
        """Delete a branch."""
        self._ref(branch).unlink()

    def blob(self, data: bytes) -> str:
        """Store a blob; return its id."""
        return self.put("blob", data)

    def read(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        return self.get(oid, "blob")

    def folder(self, tree: str) -> list[Entry]:
        """Return what a tree itself holds, its folders unopened."""
        data, entries = self.get(tree, "tree"), []
        while data:
            head, _, rest = data.partition(b"\0")
            mode, _, name = head.decode().partition(" ")
            mode = mode.zfill(6)
            entries.append(Entry(mode, _KINDS.get(mode, "blob"), rest[:20].hex(), name))
            data = rest[20:]
        return entries

    def entries(self, tree: str) -> list[Entry]:
        """Return every file of a commit or tree."""
        try:
            top = self.stored(tree).tree
        except LookupError:
            top = tree
        return list(self._files(top, ""))

    def tree(self, base: str, changes: Sequence[Entry]) -> str:
        """Store the tree of another with some entries replaced; return its id."""
        files = {entry.path: entry for entry in self.entries(base)} if base else {}
        return self._store(files | {entry.path: entry for entry in changes})

    def commit_tree(
        self,
        tree: str,
        parents: Sequence[str],
        message: str,
        who: tuple[str, str] = PEOPLE,
        at: datetime = MADE,
    ) -> str:
        """Store a commit; return its id."""
        person = f"{who[0]} <{who[1]}> {int(at.timestamp())} {at.strftime('%z') or '+0000'}"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {person}", f"committer {person}", "", message]
        return self.put("commit", "\n".join(lines).encode())

    def stored(self, commit: str) -> Stored:
        """Return what a commit says."""
        head, _, message = self.get(commit, "commit").decode().partition("\n\n")
        said = [line.partition(" ")[::2] for line in head.splitlines()]
        parents = tuple(value for key, value in said if key == "parent")
        fields = dict(said)
        name, _, rest = fields["author"].partition(" <")
        email, _, when = rest.partition("> ")
        return Stored(commit, parents, fields["tree"], name, email, _time(when), message)

    def changed(self, old: str, new: str) -> dict[str, str]:
        """Return the paths that differ between two commits, each with git's letter for how."""
        before = {entry.path: entry for entry in self.entries(old)}
        after = {entry.path: entry for entry in self.entries(new)}
        return {
            path: "D" if path not in after else "M" if path in before else "A"
            for path in sorted(before | after)
            if before.get(path) != after.get(path)
        }

    def leads_to(self, old: str, new: str) -> bool:
        """Whether a commit is another or one of its ancestors."""
        waiting = [new]
        while waiting:
            commit = waiting.pop()
            if commit == old:
                return True
            waiting += self.stored(commit).parents
        return False

    def _file(self, oid: str) -> Path:
        return Path(f"{self.git_dir}/objects/{oid[:2]}/{oid[2:]}")

    def _ref(self, branch: str) -> Path:
        return Path(f"{self.git_dir}/refs/heads/{branch}")

    def _files(self, tree: str, above: str) -> Iterator[Entry]:
        for entry in self.folder(tree):
            path = f"{above}{entry.path}"
            if entry.type == "tree":
                yield from self._files(entry.oid, f"{path}/")
            else:
                yield Entry(entry.mode, entry.type, entry.oid, path)

    def _store(self, files: Mapping[str, Entry]) -> str:
        here = {path: entry for path, entry in files.items() if "/" not in path}
        folders: dict[str, dict[str, Entry]] = {}
        for path, entry in files.items():
            name, is_below, rest = path.partition("/")
            if is_below:
                folders.setdefault(name, {})[rest] = entry
        found = [(name, entry.mode, entry.oid) for name, entry in here.items()]
        found += [(name, FOLDER, self._store(below)) for name, below in folders.items()]
        found.sort(key=lambda one: one[0] + "/" * (one[1] == FOLDER))
        data = [
            f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(oid)
            for name, mode, oid in found
        ]
        return self.put("tree", b"".join(data))


def loose(folder: Path) -> Loose:
    """Make a bare repository that holds nothing yet; its first branch is to be `main`."""
    for name in ("objects", "refs/heads"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    (folder / "config").write_text("[core]\n\tbare = true\n", encoding="ascii")
    return Loose(folder)


@functools.lru_cache(maxsize=4096)
def _unpacked(git_dir: str, oid: str) -> bytes:
    """An object never changes, so it is read once."""
    return zlib.decompress(Path(f"{git_dir}/objects/{oid[:2]}/{oid[2:]}").read_bytes())


def _time(when: str) -> datetime:
    seconds, _, zone = when.partition(" ")
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    offset = timedelta(minutes=-minutes if zone[0] == "-" else minutes)
    return datetime.fromtimestamp(int(seconds), timezone(offset))
