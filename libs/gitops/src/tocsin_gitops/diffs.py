"""Show two states of some files the way git does, so that people and `git apply` both read it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal

CONTEXT = 3
Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def unified_diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return a git-style diff of every file of `after`; one that `before` lacks is a new file."""
    changed = (path for path in sorted(after) if before.get(path) != after[path])
    return "".join(line for path in changed for line in _file(path, before.get(path), after[path]))


def reverse_diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return the diff that takes `after` back to `before`: what is new there is deleted."""
    changed = (path for path in sorted(after) if before.get(path) != after[path])
    return "".join(line for path in changed for line in _file(path, after[path], before.get(path)))


def changed_lines(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> int:
    """Count the lines that are removed or added."""
    pairs = ((_lines(before.get(path, b"")), _lines(after[path])) for path in after)
    codes = (code for old, new in pairs for code in _Matcher(old, new).get_opcodes())
    return sum(j - i + m - k for tag, i, j, k, m in codes if tag != "equal")


def _file(path: str, before: bytes | None, after: bytes | None) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if before is None:
        yield "new file mode 100644\n"
    if after is None:
        yield "deleted file mode 100644\n"
    hunks = tuple(_hunks(_lines(before or b""), _lines(after or b"")))
    if hunks:
        yield "--- /dev/null\n" if before is None else f"--- a/{path}\n"
        yield "+++ /dev/null\n" if after is None else f"+++ b/{path}\n"
    yield from hunks


def _lines(data: bytes) -> list[str]:
    """Split at line feeds alone: git takes no other character for the end of a line."""
    lines = data.decode(errors="replace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


class _Matcher(SequenceMatcher[str]):
    """Looks only between the ends that are equal anyway: fast, and nothing moves for nothing."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_opcodes(self) -> list[Opcode]:
        head = _equal(self._old, self._new)
        tail = _equal(self._old[head:][::-1], self._new[head:][::-1])
        old, new = len(self._old) - tail, len(self._new) - tail
        middle = SequenceMatcher(None, self._old[head:old], self._new[head:new], autojunk=False)
        codes: list[Opcode] = [("equal", 0, head, 0, head)]
        for tag, i, j, k, m in middle.get_opcodes():
            codes.append((tag, i + head, j + head, k + head, m + head))
        codes.append(("equal", old, old + tail, new, new + tail))
        return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for group in _Matcher(old, new).get_grouped_opcodes(CONTEXT):
        (_, old_from, _, new_from, _), (_, _, old_to, _, new_to) = group[0], group[-1]
        old_range = _range(old_from, old_to - old_from)
        yield f"@@ -{old_range} +{_range(new_from, new_to - new_from)} @@\n"
        for tag, i, j, k, m in group:
            if tag == "equal":
                yield from (_shown(" ", line) for line in old[i:j])
            else:
                yield from (_shown("-", line) for line in old[i:j])
                yield from (_shown("+", line) for line in new[k:m])


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _range(start: int, length: int) -> str:
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _shown(sign: str, line: str) -> str:
    end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{sign}{line}{end}"
