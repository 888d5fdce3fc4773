"""Programs that were built for another kind of processor than the node has."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings
from tocsin_rca.evidence.undoing import changes, undo

_FORMAT = re.compile(
    r"(?i)exec format error|cannot execute binary file|rosetta error|qemu-\w{1,12}: could not open"
    r"|does not match the (?:detected host|specified) platform"
)


class ImageArchitecture:
    """The kernel cannot execute the file that the container is started with."""

    name = "image_architecture"
    needs = "What programs print, how they end, and the commits that replaced the image."
    proof = (
        "A log, an ending, a check or the alert says that the program has the wrong format or "
        "platform."
    )
    against = "The line only informs, belongs to a pull that failed, or is about another workload."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a commit that replaced the image is undone."""
        means = "{who} runs a program that is not for this processor: {said}"
        found = findings(case, Saying(CauseClass.IMAGE_ARCHITECTURE_MISMATCH, _FORMAT, 0.95, means))
        change = next(changes(case, lambda field: field.path[-1] == "image"), None)
        edit = undo(case, change) if change else None
        if not found or not change or not edit:
            return found
        told = {
            "change": edit,
            "because": f"{change.told} replaced the image; this undoes that.",
            "evidence": (*found[0].evidence, change.seen.id),
        }
        return (found[0].model_copy(update=told),)
