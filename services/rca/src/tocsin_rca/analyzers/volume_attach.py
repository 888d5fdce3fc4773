"""Volumes that another node or pod holds."""

import re

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.hearing import quoted, subject
from tocsin_rca.evidence.statements import told

_HELD = re.compile(
    r"(?i)Multi-Attach error|already (?:exclusively )?attached to (?:one|another|a different"
    r"|node|instance)"
    r"|already used by pod|VolumeInUse|ReadWriteOncePod access mode"
    r"|currently attached to (?:a )?different"
    r"|(?:is|being) still (?:being )?(?:used|attached)|volume .{1,80}(?:is )?in use by"
    r"|RESOURCE_IN_USE_BY_ANOTHER"
    r"|disk .{1,80}already attached to|can't be attached to another|AttachConflict"
    r"|is already (?:mounted|published) (?:at|on|to) (?:another|more than one)"
)
_FAILED = re.compile(r"(?i)AttachVolume\.Attach failed for volume")


class VolumeAttach:
    """The attach-detach controller says that the volume is held elsewhere."""

    name = "volume_attach"
    needs = "The events and conditions of pods and volumes."
    proof = "The cluster says that another node or pod holds the volume."
    against = (
        "Only an attach that failed, without a word of who holds the volume; words about another "
        "workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a volume is never torn from whoever holds it."""
        for pattern, confidence in ((_HELD, 0.95), (_FAILED, 0.7)):
            if found := told(case, pattern):
                first = found[0]
                who = subject(case, first.about)
                return (
                    Finding(
                        cause=CauseClass.VOLUME_ATTACH_CONFLICT,
                        object=who,
                        confidence=sure(case, first.about, confidence),
                        summary=f"A volume of {who} cannot be attached: {quoted(first)}",
                        evidence=proof(case, *(one.id for one in found)),
                    ),
                )
        return ()
