"""Is the place of the change one that may be written at all?"""

from tocsin_contracts import CheckResult, CheckSeverity, EditOp, EndReason, FailureCode
from tocsin_gitops import manifests
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.policy import REGULAR_MODES
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed


class TargetIsWritable:
    """One configured repository, plain files, and in each just one document that is meant."""

    name = "target-is-writable"
    severity = CheckSeverity.CRITICAL
    needs = "the configured repositories and the files at the base commit"
    consequence = Consequence.ESCALATE
    reason = EndReason.TARGET_UNRESOLVED
    code = FailureCode.NOT_FOUND
    action = "see how the file was found, and name the repository in gitops.yaml"

    def run(self, change: Proposed) -> CheckResult:
        """Look at the repository, at the trace, and at each file and document."""
        wrong = [why for why in (_repository(change), _document(change)) if why]
        wrong += [
            f"{path!r} is no plain file"
            for path, mode in change.modes.items()
            if mode not in REGULAR_MODES
        ]
        if wrong:
            return failed(self.name, "; ".join(wrong))
        target = change.target
        return passed(self.name, f"{target.file} on {target.base_branch} of {target.repo}")


def _repository(change: Proposed) -> str:
    target = change.target
    if change.policy.rule(target.repo) is None:
        return f"{target.repo!r} is not a configured repository"
    return "" if target.trace else "nothing says how the place was found"


def _document(change: Proposed) -> str:
    for edit in change.edits:
        if edit.op is EditOp.CREATE:
            continue
        data = change.before.get(edit.file)
        if data is None or edit.document is None:
            return f"there is no {edit.file!r} with a document to edit"
        try:
            manifests.meant(edit.file, data, edit.document)
        except EditRefused as refused:
            return f"{edit.file!r}: {refused}"
    return ""
