"""Conclude a run again from what was seen then; nobody is asked, and nothing is written."""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from pydantic import AwareDatetime, ValidationError

from tocsin_agents.budget import Budget
from tocsin_contracts import RunId, Value
from tocsin_kit import keys, logging, store
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.recordings import Recordings, Transcripts
from tocsin_kit.untrusted import line
from tocsin_rca import assembly, collectors
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

MOST_ATTEMPTS = 20
"""That are looked for, also where a service was set to make more of them than this one."""


class Replayed(Value):
    """What was concluded in one attempt, and what is concluded from the same now.

    With `model_answers` a model investigated further, and its conclusion is the one that counts.
    """

    attempt: int
    seen_at: AwareDatetime
    clusters: tuple[str, ...] = ()
    then: Summary
    now: Summary
    model_answers: int = 0
    differences: tuple[str, ...]


class ReplayedRun(Value):
    """The attempts of a run in their order, and those before the last that nothing is known of."""

    run_id: str
    attempts: tuple[Replayed, ...]
    not_recorded: tuple[int, ...] = ()


def main(arguments: Sequence[str]) -> None:
    """Print how the conclusion about RUN differs from what it was; other flags are settings."""
    parser = argparse.ArgumentParser(prog="tocsin-rca replay", description=main.__doc__)
    parser.add_argument("run", help="id of a run")
    parser.add_argument("--attempt", type=int, default=0, help="which attempt; 0 is all")
    parser.add_argument("--format", choices=("terminal", "json"), default="terminal")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
        found = asyncio.run(_replay(RunId(options.run), options.attempt, settings))
    except TocsinError as error:
        sys.exit(f"tocsin: {error}")
    told = found.model_dump_json(indent=2) if options.format == "json" else told_plainly(found)
    sys.stdout.write(f"{told}\n")


def told_plainly(run: ReplayedRun) -> str:
    """Return a run for a terminal, one attempt after the other."""
    blocks = {one.attempt: plain(one) for one in run.attempts}
    blocks |= {number: f"attempt {number}: it was not recorded" for number in run.not_recorded}
    return "\n\n".join([f"run {run.run_id}", *(blocks[number] for number in sorted(blocks))])


def plain(replayed: Replayed) -> str:
    """Return one attempt for a terminal."""
    lines = [
        f"attempt {replayed.attempt}, seen {replayed.seen_at.isoformat()}",
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
    found = await asked_again(recording, known, said, assembly.taught(settings))
    before = (f"the analyzers: {one}" for one in replayed.differences)
    return replayed.model_copy(
        update={
            "then": found.then or replayed.then,
            "now": found.now or replayed.now,
            "clusters": found.clusters,
            "model_answers": sum(name.startswith("model:") for name in said),
            "differences": (*before, *found.differences),
        }
    )


async def _replay(run_id: RunId, attempt: int, settings: Settings) -> ReplayedRun:
    keys.use_prefix(settings.redis_prefix)
    client = store.connect(settings.redis_url, text=False)
    most = max(settings.max_rca_attempts, MOST_ATTEMPTS)
    attempts = [attempt] if attempt else range(1, most + 1)
    kept = Recordings(client, settings.record_days), Transcripts(client, settings.record_days)
    try:
        heard = [await _heard(run_id, number, *kept) for number in attempts]
    finally:
        await client.aclose()
    found = {number: one for number, one in zip(attempts, heard, strict=True) if one}
    if not found:
        which = f"attempt {attempt} of " if attempt else ""
        raise PermanentError(
            f"nothing is recorded of {which}run {run_id!r}: it is older than TOCSIN_RECORD_DAYS, "
            "it saw too much, or nobody investigated it"
        )
    return ReplayedRun(
        run_id=run_id,
        attempts=tuple([await again(one, run_id, settings, said) for one, said in found.values()]),
        not_recorded=tuple(n for n in attempts if n < max(found) and n not in found),
    )


async def _heard(
    run_id: RunId, attempt: int, recordings: Recordings, transcripts: Transcripts
) -> tuple[Recording, Mapping[str, bytes]] | None:
    """Return what was recorded of an attempt; None if nothing was."""
    data = await recordings.of(run_id, attempt)
    if data is None:
        return None
    try:
        recording = Recording.model_validate_json(data)
    except ValidationError as error:
        raise PermanentError(
            f"attempt {attempt} of run {run_id!r} was recorded by another version"
        ) from error
    return recording, await transcripts.of(run_id, attempt)


def _investigated(replayed: Replayed) -> Iterator[str]:
    if replayed.clusters:
        yield line(f"  recorded of the clusters {', '.join(replayed.clusters)}", 300)
    if replayed.model_answers:
        yield f"  {replayed.model_answers} recorded answers of a model"


def _said(told: Summary) -> str:
    about = f"{told.cause.value} of {told.object} ({told.confidence:.0%})" if told.cause else ""
    return line(": ".join(filter(None, (told.verdict, about, told.summary or told.why))), 300)
