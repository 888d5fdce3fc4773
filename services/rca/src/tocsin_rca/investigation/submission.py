"""What a model hands in at the end, as a schema: nothing it says elsewhere is read."""

from pydantic import BaseModel, ConfigDict, Field

from tocsin_contracts import CauseClass, Claim, FieldChange, ObjectRef, Verdict


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Alternative(_Part):
    """Another cause that would explain the alert."""

    cause: CauseClass
    object: ObjectRef
    why: str = Field(description="What speaks for it, and why it is less likely.", max_length=500)
    evidence: tuple[str, ...] = Field(min_length=1, description="Ids of evidence.")


class Contradiction(_Part):
    """Why a finding of the analyzers is wrong."""

    cause: CauseClass = Field(description="The cause of that finding.")
    why: str = Field(max_length=500)
    evidence: tuple[str, ...] = Field(min_length=1, description="Ids of what contradicts it.")


class Submission(_Part):
    """The result of an investigation."""

    cause: CauseClass
    object: ObjectRef = Field(description="The object at fault; one that was seen.")
    verdict: Verdict = Field(
        description="confirmed: shown by what was seen; likely: fits best; inconclusive: unknown."
    )
    summary: str = Field(min_length=1, max_length=500, description="The cause in one sentence.")
    claims: tuple[Claim, ...] = Field(
        min_length=1, max_length=20, description="What proves it; each cites ids of evidence."
    )
    contradictions: tuple[Contradiction, ...] = Field(
        default=(), max_length=10, description="For each finding that you disagree with."
    )
    alternatives: tuple[Alternative, ...] = Field(default=(), max_length=5)
    disproof: str = Field(
        min_length=1, max_length=500, description="What would show that this is wrong."
    )
    change: FieldChange | None = Field(
        default=None,
        description="One field that mends it, if its right value was seen. The path is a list of "
        'steps from the root of the object; "[name=app]" picks an item of a list by its name.',
    )

    @property
    def cited(self) -> frozenset[str]:
        """The ids of all evidence that it points at."""
        parts = (
            *(part.evidence for part in self.claims),
            *(part.evidence for part in self.contradictions),
            *(part.evidence for part in self.alternatives),
        )
        return frozenset(id for ids in parts for id in ids)
