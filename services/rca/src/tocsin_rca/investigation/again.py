"""Put the same agent to the same work with the answers that it got then, and compare the ends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Cancel
from tocsin_agents.loop.outputs import MemoryOutputs
from tocsin_agents.loop.state import TYPES
from tocsin_contracts import BudgetExhausted
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.errors import TocsinError
from tocsin_kit.redaction import Redactor
from tocsin_rca.evidence.comparison import Summary, differences, summary
from tocsin_rca.investigation.investigator import Asked, Investigator
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.investigation.scenes import Played
from tocsin_rca.recording.prompter import NotRecordedError, Prompter
from tocsin_rca.recording.tape import Recording
from tocsin_rca.recording.worlds import played

UNASKED = "no model would be asked now: a finding of the analyzers is decisive"
UNPLAYED = "the model's part cannot be replayed"
PAUSED = "it waited for a larger budget"


@dataclass(frozen=True, slots=True)
class Again:
    """What an investigation came to then and now; None where it came to no conclusion.

    `clusters` are those that the model was told of.
    """

    then: Summary | None
    now: Summary | None
    differences: tuple[str, ...]
    clusters: tuple[str, ...] = ()


async def asked_again(
    recording: Recording, known: Known, said: Mapping[str, bytes], taught: Engine
) -> Again:
    """Return how an investigation goes that nobody answers but its transcript.

    `taught` knows what agents are told beside their own instructions.
    """
    try:
        prompter = Prompter(said)
    except TocsinError as error:
        return Again(None, None, (f"{UNPLAYED}: {error}",))
    told = await _again(recording, known, prompter, taught)
    names = (one.name for one in prompter.beginning.clusters.clusters)
    return replace(told, clusters=tuple(names))


async def _again(recording: Recording, known: Known, prompter: Prompter, taught: Engine) -> Again:
    then = prompter.end.concluded if prompter.end else None
    if known.is_decided:
        sure = summary(known.answer)
        others = differences(then, sure) if then else ()
        return Again(then, sure, (UNASKED, *others))
    try:
        told = await _told(recording, known, prompter, taught)
    except NotRecordedError as error:
        return Again(then, None, (str(error),))
    except TocsinError as error:
        return Again(then, None, (f"{UNPLAYED}: {error}",))
    now = None if told is None or isinstance(told, BudgetExhausted) else summary(told)
    return Again(then, now, tuple(_differing(prompter, told, now)))


async def _told(
    recording: Recording, known: Known, prompter: Prompter, taught: Engine
) -> Answer | BudgetExhausted | None:
    looks = recording.model_copy(update={"heard": {**recording.heard, **prompter.looks}})
    engine = replace(
        taught,
        limits=prompter.beginning.limits,
        ledger=prompter,
        outputs=MemoryOutputs(redactor=Redactor()),
        clock=lambda: prompter.elapsed,
    )
    saver = InMemorySaver(serde=strict_serializer(*TYPES))
    investigator = Investigator(engine, Played(prompter, played(looks)), saver)
    told = await investigator.investigate(known, Cancel())
    for extension in prompter.extensions:
        if isinstance(told, BudgetExhausted):
            told = await investigator.investigate(known, Cancel(), Asked(told, extension))
    return told


def _differing(
    prompter: Prompter, told: Answer | BudgetExhausted | None, now: Summary | None
) -> Iterator[str]:
    end = prompter.end
    if end is None:
        yield "the investigation was not seen to its end then"
    elif end.concluded and now:
        yield from differences(end.concluded, now)
    elif end.paused is not isinstance(told, BudgetExhausted):
        yield f"then {_ended(end.concluded)}, now {_ended(now)}"


def _ended(concluded: Summary | None) -> str:
    return "it came to a conclusion" if concluded else PAUSED
