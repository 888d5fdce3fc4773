"""Conclude a run again from what was seen then; nobody is asked, and nothing is written."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from pydantic import AwareDatetime, ValidationError

from tocsin_agents.budget import Budget
from tocsin_contracts import RunId, Value
from tocsin_kit import logging, store
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.recordings import Recordings
from tocsin_kit.untrusted import line
from tocsin_rca import collectors
from tocsin_rca.analyzers import analyze, load
from tocsin_rca.collectors import alerts
from tocsin_rca.evidence.comparison import Summary, differences, summary
from tocsin_rca.nodes import answer
from tocsin_rca.recording import Recording, played
from tocsin_rca.settings import Settings


class Replayed(Value):
    """What the analyzers concluded in one attempt, and what they conclude from the same now."""

    run_id: str
    attempt: int
    seen_at: AwareDatetime
    then: Summary
    now: Summary
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
        f"  then: {_said(replayed.then)}",
        f"  now:  {_said(replayed.now)}",
        *(f"  {line(one, 400)}" for one in replayed.differences),
    ]
    return "\n".join(lines if replayed.differences else [*lines, "no difference"])


async def again(recording: Recording, run_id: RunId, settings: Settings) -> Replayed:
    """Collect, analyze and conclude from a recording, and compare."""
    attempt = recording.attempt
    budget = Budget(settings.investigation_calls, settings.investigation_seconds, time.monotonic)
    case = await collectors.collect(attempt.alert, played(recording), budget, run_id)
    case = alerts.heard(case, attempt.news)
    told = answer(run_id, case, analyze(case, load()), attempt.number, attempt.rejected)
    now = summary(told)
    return Replayed(
        run_id=run_id,
        attempt=attempt.number,
        seen_at=recording.at,
        then=attempt.concluded,
        now=now,
        differences=tuple(differences(attempt.concluded, now)),
    )


async def _replay(run_id: RunId, attempt: int, settings: Settings) -> Replayed:
    client = store.connect(settings.redis_url, text=False)
    last = settings.max_rca_attempts
    attempts = [attempt] if attempt else range(last, 0, -1)
    try:
        data = await _recorded(Recordings(client, settings.record_days), run_id, attempts)
    finally:
        await client.aclose()
    try:
        recording = Recording.model_validate_json(data)
    except ValidationError as error:
        raise PermanentError(f"run {run_id!r} was recorded by another version") from error
    return await again(recording, run_id, settings)


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


def _said(told: Summary) -> str:
    about = f"{told.cause.value} of {told.object} ({told.confidence:.0%})" if told.cause else ""
    return line(": ".join(filter(None, (told.verdict, about, told.summary or told.why))), 300)
