"""The protocol of runs as a machine: whatever comes, in whatever order, no path is illegal."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tocsin_contracts import OPEN_STATES, RunId, RunState
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import ANY, OPEN, move
from tocsin_kit.runs import BeginVerdict
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock
from tocsin_testing.simulation.store import MemoryRuns

RUN = RunId("r1")
LEASE = 10.0
S = RunState
STEPS = {
    "triage": (move(S.RECEIVED), [build.incident_opened]),
    "rca": (
        move(S.RECEIVED, during=S.INVESTIGATING),
        [build.hypothesis_formed, build.investigation_inconclusive],
    ),
    "validation": (
        move(S.VALIDATING),
        [build.plan_drafted, build.hypothesis_rejected, build.run_finished],
    ),
    "asking": (move(S.VALIDATING), [build.approval_requested]),
    "writing": (
        move(S.AWAITING_APPROVAL, during=S.APPLYING),
        [build.pull_request_opened, build.plan_stale],
    ),
    "following": (OPEN, [build.pull_request_merged, build.run_finished]),
    "failing": (OPEN, [build.run_finished]),
    "watching": (ANY, []),
}
"""What services may start from, and what they may conclude, in any order and at any time."""


def at_once(doing):
    """Return what a coroutine returns that waits for nothing."""
    try:
        doing.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits for something")


ENDS = [state for state in S if state.terminal]


class Runs(RuleBasedStateMachine):
    """One run, many workers; each step is begun, and perhaps committed much later or never."""

    def __init__(self):
        super().__init__()
        self.clock = FakeClock()
        self.runs = MemoryRuns(self.clock, lease_seconds=LEASE)
        self.begun = []
        self.path = []
        self.stored = {}
        at_once(self.runs.create(build.alert_accepted(run_id=RUN)))

    @property
    def record(self):
        return self.runs.records[RUN]

    @rule(
        step=st.sampled_from(sorted(STEPS)),
        number=st.integers(0, 2),
        late=st.integers(-3, 2),
    )
    def a_message_comes(self, step, number, late):
        """A copy, an old one, or one from a time that the store has lost."""
        allowed, _ = STEPS[step]
        version = max(0, self.record.version + late)
        event = build.incident_opened(run_id=RUN, id=f"{step}-{number}", run_version=version)
        before = self.record.state
        begin = at_once(self.runs.begin(event, step, allowed))
        if begin.verdict is BeginVerdict.GO:
            self.begun.append((begin.lease, step, event))
        if begin.verdict is BeginVerdict.DONE:
            assert begin.stored == self.stored[step, event.id]
        if before.terminal:
            assert self.record.state is before

    @rule(data=st.data())
    def a_worker_commits(self, data):
        """Whoever began may commit at any time: also after its lease, and after the run's end."""
        if not self.begun:
            return
        lease, step, event = data.draw(st.sampled_from(self.begun))
        allowed, answers = STEPS[step]
        kind = data.draw(st.sampled_from(answers)) if answers else None
        outcome = (
            {"outcome": data.draw(st.sampled_from(ENDS))} if kind is build.run_finished else {}
        )
        outgoing = [kind(run_id=RUN, **outcome)] if kind else []
        before, version = self.record.state, self.record.version
        known = self.stored.get((step, event.id))
        try:
            told = at_once(self.runs.commit(lease, allowed, event, outgoing))
        except TransientError:
            assert (self.record.state, self.record.version) == (before, version)
            return
        if known is not None:
            assert told == known
        elif told:
            self.stored[step, event.id] = told
            assert before in allowed.starts
            assert not before.terminal
        if self.record.version > version:
            self.path.append((before, self.record.state))

    @rule(seconds=st.sampled_from([0.1, LEASE / 2, LEASE * 2]))
    def time_passes(self, seconds):
        self.clock.advance(seconds)

    @invariant()
    def nothing_leaves_an_end(self):
        for before, _ in self.path:
            assert before in OPEN_STATES

    @invariant()
    def a_step_is_stored_once(self):
        keys = [key for key, stored in self.record.done.items() if stored]
        assert set(keys) == set(self.stored)


def test_a_run_takes_only_legal_paths():
    wide = settings(max_examples=60, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(Runs, settings=wide)
