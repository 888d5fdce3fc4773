"""What Tocsin wrote to forges about each issue, and which run looks after it now.

The record says which commits are ours; of a commit that is not in it, nothing is known.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from redis.asyncio import Redis

from tocsin_contracts import Event, PullRequestOpened, PullRequestUpdated, RunId, Value
from tocsin_kit import keys
from tocsin_kit.clock import from_millis, millis
from tocsin_kit.store import Script, text_fields, translated

KEPT = timedelta(days=90)
"""As long as approvals: what is older is nobody's commit that we would add to."""

_COMMIT, _ENDED, _REFUSED = "commit:", "ended:", "refused"


class Written(Value):
    """One commit of ours, and whose yes it was made with."""

    commit: str
    head_branch: str
    url: str
    run_id: str
    plan_hash: str
    at: datetime
    opened: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that looks after a thing, and the issue for whose sake."""

    run_id: RunId
    issue_key: str

    @classmethod
    def read(cls, text: str) -> "Claim":
        """Read what is stored."""
        run_id, _, issue_key = text.partition(" ")
        return cls(RunId(run_id), issue_key)

    def __str__(self) -> str:
        return f"{self.run_id} {self.issue_key}"


class Issues:
    """The records. Every method raises TransientError when the store does not answer."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._claim = Script(client, "claim")

    async def remember(self, events: Iterable[Event]) -> None:
        """Keep every commit that these events tell of.

        Called before they are committed: a commit that is known twice is known once.
        """
        for event in events:
            if isinstance(event, PullRequestOpened | PullRequestUpdated) and event.issue_key:
                await self._keep(event)

    async def written(self, issue_key: str) -> tuple[Written, ...]:
        """Return our commits about an issue, the oldest first; none where the record is lost."""
        key = keys.issue(issue_key)
        async with translated(f"read what was written about {issue_key!r}"):
            record = text_fields(await self._client.hgetall(key))
        found = (
            Written.model_validate_json(value)
            for field, value in record.items()
            if field.startswith(_COMMIT)
        )
        return tuple(sorted(found, key=lambda one: (one.at, one.commit)))

    async def ended(self, issue_key: str, url: str, now: datetime) -> datetime:
        """Return when a pull request was first seen to have ended: now, if it was not before."""
        key, field = keys.issue(issue_key), f"{_ENDED}{url}"
        async with translated(f"keep the end of {url!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.hsetnx(key, field, str(millis(now)))
            pipe.pexpire(key, KEPT)
            pipe.hget(key, field)
            answers = await pipe.execute()
        return from_millis(str(answers[-1]))

    async def refuse(self, issue_key: str, until: datetime) -> None:
        """Keep that a person said no: nothing is to be proposed for the issue before then."""
        key = keys.issue(issue_key)
        async with translated(f"keep the no to {issue_key!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.hset(key, _REFUSED, str(millis(until)))
            pipe.pexpire(key, KEPT)
            await pipe.execute()

    async def refused_until(self, issue_key: str) -> datetime | None:
        """Return until when the last no to the issue holds, or None if there was none."""
        async with translated(f"read the no to {issue_key!r}"):
            until = await self._client.hget(keys.issue(issue_key), _REFUSED)
        return from_millis(str(until)) if until else None

    async def claim(self, thing: str, claim: Claim, instead_of: Claim | None = None) -> Claim:
        """Take a thing for a run and return who holds it then; `instead_of` may be replaced."""
        kept = int(KEPT.total_seconds() * 1000)
        held = await self._claim([keys.claim(thing)], [str(claim), str(instead_of or ""), kept])
        return Claim.read(str(held))

    async def _keep(self, event: PullRequestOpened | PullRequestUpdated) -> None:
        written = Written(
            commit=event.commit,
            head_branch=event.head_branch,
            url=event.url,
            run_id=event.run_id,
            plan_hash=event.plan_hash,
            at=event.at,
            opened=isinstance(event, PullRequestOpened),
        )
        key = keys.issue(event.issue_key)
        async with translated(f"keep the commit {event.commit!r}"):
            pipe = self._client.pipeline(transaction=False)
            pipe.hsetnx(key, f"{_COMMIT}{event.commit}", written.model_dump_json())
            pipe.pexpire(key, KEPT)
            await pipe.execute()
