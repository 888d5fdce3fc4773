"""The write policy: what may be changed where, judged before and after every approval."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field

from tocsin_contracts import Edit, EditOp
from tocsin_gitops import field_policy, field_rules, path_rules
from tocsin_gitops.bounds import Limits
from tocsin_gitops.diffs import changed_lines
from tocsin_gitops.hashing import canonical, sha256
from tocsin_gitops.undoing import Step
from tocsin_gitops.violations import Rule, Violation

__all__ = ["Change", "Limits", "RepositoryRule", "Rule", "Violation", "WritePolicy", "judge"]

REGULAR_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be written: the edits, and the files they touch before and after.

    A file that is to be created is missing from `before` and `modes`. `past` is what the commits
    did that edits say they undo, read from the repository itself.
    """

    repo: str
    edits: tuple[Edit, ...]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    modes: Mapping[str, str] = field(default_factory=dict)
    past: tuple[Step, ...] = ()


class RepositoryRule(BaseModel):
    """What may be written to one repository."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="What people call it, such as shop/platform-gitops.")
    paths: tuple[str, ...] = Field(description="Globs of the files that may be changed.")
    proposals: tuple[str, ...] = Field(
        default=("remediations/*.md",), description="Globs of the files that may be created."
    )


class WritePolicy(BaseModel):
    """The operator's rules; nothing outside the named repositories is ever written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repositories: tuple[RepositoryRule, ...] = ()
    limits: Limits = Limits()

    @cached_property
    def version(self) -> str:
        """The digest of all that decides, and where it is written to: an approval is bound to it.

        It counts the places that configured repositories add to their rules.
        """
        rules = [str(rule) for rule in (*field_rules.RULES, *field_rules.UNDONE)]
        policy = self.model_dump(mode="json", serialize_as_any=True)
        return sha256(
            canonical({"policy": policy, "fields": rules, "never": field_policy.NEVER_KINDS})
        )

    def rule(self, repo: str) -> RepositoryRule | None:
        """Return the rule of a repository, or None if it is not allowed."""
        return next((rule for rule in self.repositories if rule.name == repo), None)


def judge(policy: WritePolicy, change: Change) -> tuple[Violation, ...]:
    """Return every rule that the change breaks; none means that it may be written."""
    rule = policy.rule(change.repo)
    if rule is None:
        return (Violation(Rule.REPOSITORY, f"{change.repo!r} is not an allowed repository"),)
    edited = [edit for edit in change.edits if edit.op is not EditOp.CREATE]
    return (
        *_whole(policy.limits, change),
        *(v for edit in change.edits for v in _file(rule, policy.limits, edit, change)),
        *(
            v
            for e in edited
            for v in field_policy.judge(policy.limits, e, change.before, change.past)
        ),
        *field_policy.judge_mounts(edited),
    )


def _whole(limits: Limits, change: Change) -> Iterator[Violation]:
    named = {edit.file for edit in change.edits}
    if not named or named != set(change.after):
        yield Violation(Rule.OPERATION, "the edits do not name exactly the files that change")
    if len(change.after) > limits.max_files:
        detail = f"{len(change.after)} files change; {limits.max_files} may"
        yield Violation(Rule.FILES, detail)
    edited = {edit.file for edit in change.edits if edit.op is not EditOp.CREATE}
    after = {path: data for path, data in change.after.items() if path in edited}
    lines = changed_lines(change.before, after)
    if lines > limits.max_changed_lines:
        yield Violation(Rule.LINES, f"{lines} lines change; {limits.max_changed_lines} may")


def _file(rule: RepositoryRule, limits: Limits, edit: Edit, change: Change) -> Iterator[Violation]:
    path, creates = edit.file, edit.op is EditOp.CREATE
    fault = path_rules.fault(path)
    if fault:
        yield Violation(Rule.PATH, f"{path!r} is never written: {fault}")
    if not path_rules.allowed(path, rule.proposals if creates else rule.paths):
        verb = "created" if creates else "changed"
        yield Violation(Rule.PATH, f"{path!r} is outside of what may be {verb} in {rule.name!r}")
    if creates == (path in change.before):
        yield Violation(Rule.OPERATION, f"{path!r} is{' ' if creates else ' not '}there already")
    mode = change.modes.get(path, REGULAR_MODES[0] if creates else "unknown")
    if mode not in REGULAR_MODES:
        yield Violation(Rule.MODE, f"{path!r} has the mode {mode}; only plain files are written")
    size = max(len(change.after.get(path, b"")), len(change.before.get(path, b"")))
    if size > limits.max_file_bytes:
        yield Violation(Rule.SIZE, f"{path!r} has {size} bytes; {limits.max_file_bytes} may be")
