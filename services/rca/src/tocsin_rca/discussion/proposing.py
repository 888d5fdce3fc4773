"""Whether what a comment asks for is a change to be checked: pure, and a model has no say in it."""

import json
import re

from tocsin_contracts import FieldChange, Hypothesis, RunState, Scalar
from tocsin_gitops import hashing
from tocsin_kit import revaluing
from tocsin_rca.discussion.reply import NewValue
from tocsin_rca.discussion.talk import Talk


def open_fields(talk: Talk) -> tuple[FieldChange, ...]:
    """Return the changes of the plan whose value a comment may ask to be another one."""
    if hashing.is_undo(talk.plan.issue_key):
        return ()
    return revaluing.open_fields(talk.hypothesis.finding)


def proposed(talk: Talk, wanted: NewValue) -> Hypothesis | str:
    """Return why the change would be made, as the comment wants it, or why there is none.

    Its value has to stand in the comment: then a person has said it, and not only a model.
    """
    if talk.state is not RunState.PR_OPEN:
        return "another plan of this run waits, or its pull request has ended"
    change = next((one for one in open_fields(talk) if one.path == wanted.path), None)
    if change is None:
        return "the plan does not change that field"
    if wanted.new == change.new:
        return "the plan sets that value already"
    if not is_said(wanted.new, talk.body):
        return "the value does not stand in the comment"
    told = f"{talk.remark.author} asked for {text(wanted.new)} in place of {text(change.new)}."
    changed = revaluing.revalued(talk.hypothesis.finding, change, wanted.new, told)
    return talk.hypothesis.model_copy(update={"finding": changed, "remark": talk.remark})


def is_said(value: Scalar, words: str) -> bool:
    """Whether a value stands in a text as a whole word; a full stop after it ends a sentence."""
    if value in (None, ""):
        return False
    word = re.escape(text(value))
    return bool(re.search(rf"(?<![\w/:@.+-]){word}(?![\w/:@%+-]|\.\w)", words))


def text(value: Scalar) -> str:
    """Return a value as people write it."""
    return value if isinstance(value, str) else json.dumps(value)
