"""P2, P4 and P5: whichever answer a worker dies after, the next one ends where it would have."""

import copy

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_contracts import AlertStatus, FixIneffective, RunState
from tocsin_contracts.views import DecisionKind
from tocsin_testing import build

OUTSIDE = ("source", "forge", "issues", "approvals", "timers", "runs")


class KilledError(Exception):
    """The worker is gone; what it had asked for is done."""


class Life:
    """How many answers a worker lives to hear: the last one kills it, but it only dies once."""

    def __init__(self, answers):
        self.answers, self.heard = answers, 0

    def hear(self):
        self.heard += 1
        if self.heard == self.answers:
            raise KilledError


class Heard:
    """A part of the world that does what it is asked, before the worker may die."""

    def __init__(self, part, life):
        self.part, self.life = part, life

    def __getattr__(self, name):
        found = getattr(self.part, name)
        if not callable(found):
            return found

        async def ask(*args, **options):
            answer = await found(*args, **options)
            self.life.hear()
            return answer

        return ask


class Workers:
    """Whoever handles what happens to a run; the next one knows only what is stored."""

    def __init__(self, world, life, checkpoint):
        self.world, self.checkpoint = world, checkpoint
        for name in OUTSIDE:
            setattr(world, name, Heard(getattr(world, name), life))

    async def handle(self, run_id, ask, *args):
        try:
            return await self._handle(run_id, ask, *args)
        except KilledError:
            if self.checkpoint == "lost":
                self.world.saver = InMemorySaver()
            return await self._handle(run_id, ask, *args)

    async def _handle(self, run_id, ask, *args):
        told = await ask(self.world)(*args)
        listed = told if isinstance(told, list | tuple) else [told]
        return await self.world.note(run_id, [event for event in listed if event])

    async def asks(self, drafted):
        """Put a plan to a person who says yes; return the event that tells of it."""
        run_id, plan_hash = drafted.run_id, drafted.plan.plan_hash
        await self.handle(run_id, lambda world: world.action().on_plan_drafted, drafted)
        await self.world.approvals.part.decide(
            run_id=run_id,
            plan_hash=plan_hash,
            surface="cli",
            answer=DecisionKind.GRANTED,
            by="ana",
            reason="",
        )
        return build.approval_granted(
            run_id=run_id, decision=build.decision(plan_hash=plan_hash), id=plan_hash[:32]
        )

    async def looks(self):
        """Let the newest timer come due."""
        timer = self.world.timers.set[-1]
        wait = (timer.due_at - self.world.clock.now()).total_seconds()
        self.world.clock.advance(max(wait, 0))
        asked = {"pull-look": "on_pull_look", "fix-look": "on_fix_look"}[timer.kind]
        return await self.handle(
            timer.run_id, lambda world: getattr(world.following(), asked), timer
        )


async def a_plan(world):
    return (await world.fire("r1"))[-1]


async def asks_and_writes(workers, drafted):
    await writes(workers, await workers.asks(drafted))


async def writes(workers, granted):
    run_id, world = granted.run_id, workers.world
    world.runs.runs[run_id] = build.run(
        *world.facts[run_id].values(), id=run_id, state=RunState.APPLYING
    )
    await workers.handle(run_id, lambda world: world.action().on_approval_granted, granted)


async def stopped(world):
    """Bring a run to its pull request, which stays open when a person stops the run."""
    await world.proposed("r1")
    stop = build.run_cancel_requested(run_id="r1")
    await world.note("r1", [await world.action().on_run_cancel_requested(stop)])


async def a_yes_to_more(world):
    await stopped(world)
    return await world.decide((await world.fire("r2", new="384Mi"))[-1])


async def a_pull_request_that_was_found(world):
    await stopped(world)
    return (await world.fire("r2"))[-1]


async def comments(workers, found):
    for _ in range(2):
        await workers.handle(
            found.run_id, lambda world: world.following().on_pull_request_found, found
        )


async def a_merge(world):
    opened = await world.proposed("r1")
    world.repositories.merge(world.repo, opened.head_branch, ended_at=world.clock.now())


async def alerts_that_cleared(world):
    await a_merge(world)
    await world.ring()
    resolved = build.alert(status=AlertStatus.RESOLVED)
    cleared = build.alert_resolved(run_id="r1", alert=resolved, at=world.clock.now())
    return (await world.note("r1", [cleared]))[0]


async def proves(workers, cleared):
    await workers.handle("r1", lambda world: world.action().on_alert_resolved, cleared)
    await workers.looks()


async def proposes_the_undo(workers, _):
    told = []
    while not told or not isinstance(told[0], FixIneffective):
        told = await workers.looks()
    await workers.handle("r1", lambda world: world.validation().on_fix_ineffective, told[0])


async def a_yes_to_the_undo(world):
    await a_merge(world)
    told = []
    while not told or not isinstance(told[0], FixIneffective):
        told = await world.ring()
    (drafted,) = await world.note("r1", await world.validation().on_fix_ineffective(told[0]))
    return await world.decide(drafted)


async def what_is_there(world, run_id):
    """Return all that may not depend on a death: what the forge holds, and where the run is."""
    run = world.runs.part.runs[run_id]
    opened, said = world.repositories.opened, world.forge.part.said
    written = {
        one.commit
        for pull in (fact for fact in run.facts.values() if hasattr(fact, "issue_key"))
        for one in await world.issues.part.written(pull.issue_key)
    }
    timers = {(timer.kind, timer.about) for timer in world.timers.part.set}
    return run.state, set(run.facts), opened, said, written, timers


CASES = {
    "a plan is put to people and written": (a_plan, asks_and_writes, RunState.PR_OPEN, 1),
    "one more commit is written": (a_yes_to_more, writes, RunState.PR_OPEN, 1),
    "a comment is said": (a_pull_request_that_was_found, comments, RunState.PR_OPEN, 1),
    "a fix is proven": (alerts_that_cleared, proves, RunState.RESOLVED, 1),
    "an undo is proposed": (a_merge, proposes_the_undo, RunState.VALIDATING, 1),
    "an undo is written": (a_yes_to_the_undo, writes, RunState.PR_OPEN, 2),
}


@pytest.mark.parametrize(
    ("case", "checkpoint"), [*((one, "kept") for one in CASES), (next(iter(CASES)), "lost")]
)
async def test_p5_a_worker_that_dies_after_any_answer_changes_nothing(world, case, checkpoint):
    arrange, act, state, pulls = CASES[case]
    given = await arrange(world)
    run_id = given.run_id if given else "r1"

    async def lived(answers):
        own, life = copy.deepcopy(world), Life(answers)
        await act(Workers(own, life, checkpoint), given)
        return await what_is_there(own, run_id), life.heard

    whole, heard = await lived(0)
    assert (whole[0], len(whole[2])) == (state, pulls)
    for answers in range(1, heard + 1):
        assert (await lived(answers))[0] == whole, f"died after answer {answers} of {heard}"
