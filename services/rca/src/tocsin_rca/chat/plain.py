"""What is answered without a model: that there is none, and what the analyzers found."""

from collections.abc import Iterator

from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line
from tocsin_rca.chat.telling import findings

UNSET = "No model is set (TOCSIN_MODEL_CHAT, TOCSIN_MODEL), so questions are not answered here."
AWAY = "The model is away; ask again in a few minutes."
_MOST, _SENTENCE = 5, 300


def explained(why: str, run: Run | None) -> str:
    """Say why there is no answer, and what is known of a run that the question is about."""
    return "\n".join([why, *(_known(run) if run else ())])


def _known(run: Run) -> Iterator[str]:
    found = findings(run)[:_MOST]
    yield f"Run {run.id} is {run.state.value}."
    yield "What the analyzers found:" if found else "Nothing was found yet that causes its alert."
    for one in found:
        cites = ", ".join(one.evidence[:_MOST])
        sure = f"{one.confidence:.0%}"
        yield f"- {line(one.summary, _SENTENCE)} ({one.object}, {sure} sure, seen in {cites})"
