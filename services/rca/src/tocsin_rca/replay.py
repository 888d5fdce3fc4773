"""Conclude a run again from what was seen then; nobody is asked, and nothing is written."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from pydantic import AwareDatetime, ValidationError

from tocsin_agents.budget import Budget
from tocsin_contracts import RunId, Value
from tocsin_kit import logging, store
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.recordings import Recordings, Transcripts
from tocsin_kit.untrusted import line
from tocsin_rca import app, collectors
from tocsin_rca.analyzers import analyze, load
from tocsin_rca.collectors import alerts
from tocsin_rca.evidence.comparison import Summary, differences, summary
from tocsin_rca.evidence.seen import objects_seen
from tocsin_rca.investigation.again import asked_again
from tocsin_rca.investigation.investigator import PATIENCE
from tocsin_rca.investigation.known import Known
from tocsin_rca.nodes import answer, with_reasons
from tocsin_rca.recording import Recording, played
from tocsin_rca.settings import Settings


class Replayed(Value):
    """What was concluded in one attempt, and what is concluded from the same now.

    With `model_answers` a model investigated further, and its conclusion is the one that counts.
    """

    run_id: str
    attempt: int
    seen_at: AwareDatetime
    then: Summary
    now: Summary
    model_answers: int = 0
    differences: tuple[str, ...]


def main(arguments: Sequence[str]) -> None:
    """Print how the conclusion about RUN differs from what it was; other flags are settings."""
    parser = argparse.ArgumentParser(prog="tocsin-rca replay", description=main.__doc__)
    parser.add_argument("run", help="id of a run")
    parser.add_argument("--attempt", type=int, default=0, help="which attempt; 0 is the last")
    parser.add_argument("--format", choices=("terminal", "json"), default="terminal")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
        found = asyncio.run(_replay(RunId(options.run), options.attempt, settings))
    except TocsinError as error:
        sys.exit(f"tocsin: {error}")
    told = found.model_dump_json(indent=2) if options.format == "json" else plain(found)
    sys.stdout.write(f"{told}\n")


def plain(replayed: Replayed) -> str:
    """Return it for a terminal."""
    lines = [
        f"run {replayed.run_id}, attempt {replayed.attempt}, seen {replayed.seen_at.isoformat()}",
        *_investigated(replayed),
        f"  then: {_said(replayed.then)}",
        f"  now:  {_said(replayed.now)}",
        *(f"  {line(one, 400)}" for one in replayed.differences),
    ]
    return "\n".join(lines if replayed.differences else [*lines, "no difference"])


async def again(
    recording: Recording,
    run_id: RunId,
    settings: Settings,
    said: Mapping[str, bytes] | None = None,
) -> Replayed:
    """Collect, analyze and conclude from a recording, and compare.

    With the transcript of a model's investigation that is played again too.
    """
    attempt = recording.attempt
    budget = Budget(settings.investigation_calls, settings.investigation_seconds, time.monotonic)
    case = await collectors.collect(attempt.alert, played(recording), budget, run_id)
    case = alerts.heard(case, attempt.news)
    told = answer(run_id, case, analyze(case, load()), attempt.number, attempt.rejected)
    now = summary(told)
    replayed = Replayed(
        run_id=run_id,
        attempt=attempt.number,
        seen_at=recording.at,
        then=attempt.concluded,
        now=now,
        differences=tuple(differences(attempt.concluded, now)),
    )
    told = with_reasons(told, attempt.rejections)
    known = Known(
        answer=told,
        attempt=attempt.number,
        objects=frozenset(objects_seen(case)),
        rejections=attempt.rejections,
        since=recording.at - 2 * PATIENCE,  # a model that was away then is not waited for
    )
    return await _further(replayed, recording, known, said, settings) if said else replayed


async def _further(
    replayed: Replayed,
    recording: Recording,
    known: Known,
    said: Mapping[str, bytes],
    settings: Settings,
) -> Replayed:
    """Add what the model's investigation comes to."""
    found = await asked_again(recording, known, said, app.taught(settings))
    before = (f"the analyzers: {one}" for one in replayed.differences)
    return replayed.model_copy(
        update={
            "then": found.then or replayed.then,
            "now": found.now or replayed.now,
            "model_answers": sum(name.startswith("model:") for name in said),
            "differences": (*before, *found.differences),
        }
    )


async def _replay(run_id: RunId, attempt: int, settings: Settings) -> Replayed:
    client = store.connect(settings.redis_url, text=False)
    last = settings.max_rca_attempts
    attempts = [attempt] if attempt else range(last, 0, -1)
    try:
        data = await _recorded(Recordings(client, settings.record_days), run_id, attempts)
        recording = _read(data, run_id)
        transcripts = Transcripts(client, settings.record_days)
        said = await transcripts.of(run_id, recording.attempt.number)
    finally:
        await client.aclose()
    return await again(recording, run_id, settings, said)


def _read(data: bytes, run_id: RunId) -> Recording:
    try:
        return Recording.model_validate_json(data)
    except ValidationError as error:
        raise PermanentError(f"run {run_id!r} was recorded by another version") from error


async def _recorded(recordings: Recordings, run_id: RunId, attempts: Sequence[int]) -> bytes:
    for number in attempts:
        found = await recordings.of(run_id, number)
        if found is not None:
            return found
    which = f"attempt {attempts[0]} of " if len(attempts) == 1 else ""
    raise PermanentError(
        f"nothing is recorded of {which}run {run_id!r}: it is older than TOCSIN_RECORD_DAYS, "
        "it saw too much, or nobody investigated it"
    )


def _investigated(replayed: Replayed) -> Iterator[str]:
    if replayed.model_answers:
        yield f"  {replayed.model_answers} recorded answers of a model"


def _said(told: Summary) -> str:
    about = f"{told.cause.value} of {told.object} ({told.confidence:.0%})" if told.cause else ""
    return line(": ".join(filter(None, (told.verdict, about, told.summary or told.why))), 300)
