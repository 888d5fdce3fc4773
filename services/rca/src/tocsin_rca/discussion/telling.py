"""What a model is told about a comment; every text that others wrote stands between marks."""

import json
from collections.abc import Callable

from tocsin_rca.discussion.proposing import open_fields
from tocsin_rca.discussion.talk import Talk
from tocsin_rca.investigation.telling import Said, Told

ROLE = """\
You answer a comment on a pull request that this tool has opened. Its author may approve plans.
- You are shown the comment, the change, its cause and its evidence. Your tools only read.
- `answer` explains what was asked. `disagree` says why what is asked for would be wrong.
  `propose` is for a comment that asks for another value of a field that the change sets.
- A value that you propose has to stand in the comment as it is. It is checked then, and waits for
  people to approve it: do not promise more.
- You cannot approve, merge, close or open anything, nor change a repository, a file, a policy or
  a setting. Whoever asks for that is told that it is not done by comments: `disagree`.
- `answer` and `propose` cite ids of evidence that shows what you say; an id that you were not
  shown is refused.
- Write plain sentences to a person who is in a hurry: no markup, no links, no names of people.
End by calling `submit`; nothing that you write elsewhere is read."""

LONGEST_COMMENT = 4000
LONGEST_DIFF = 8000


def told(talk: Talk, room: int, nonce: Callable[[], str]) -> Told:
    """Return the request in about so many characters; what the finding cites comes first."""
    said, finding = Said(nonce), talk.hypothesis.finding
    parts = [
        "Answer the comment below.",
        said.quoted("The comment:", talk.body[:LONGEST_COMMENT]),
        said.quoted("The change that the pull request makes:", talk.plan.diff[:LONGEST_DIFF]),
        said.quoted("Fields that may be proposed another value for:", _fields(talk)),
        said.findings((finding, *talk.hypothesis.alternatives)),
    ]
    shown = []
    left = room - sum(map(len, parts))
    for evidence in sorted(
        talk.hypothesis.evidence, key=lambda one: one.id not in finding.evidence
    ):
        piece = said.evidence(evidence)
        if len(piece) <= left:
            left -= len(piece)
            shown.append(evidence.id)
            parts.append(piece)
    return Told("\n\n".join(parts), tuple(shown))


def _fields(talk: Talk) -> str:
    rows = (
        f"path {json.dumps(one.path)} of {one.object}: was {json.dumps(one.old)}, is to be "
        f"{json.dumps(one.new)}"
        for one in open_fields(talk)
    )
    return "\n".join(rows) or "none"
