"""A besieged shop with the real validation and action behind it."""

from datetime import timedelta
from itertools import count

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action import graph as acting
from tocsin_action.asking import Asking
from tocsin_action.commenting import Comments
from tocsin_action.following import Following
from tocsin_action.freezing import Freezing
from tocsin_action.handlers import Handlers as ActionHandlers
from tocsin_action.nodes import Nodes as ActionNodes
from tocsin_action.proving import Patience
from tocsin_action.writing import Writer
from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_contracts import ApprovalRequested, PlanDrafted, RunState
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit.graphs import Subgraph
from tocsin_testing import build
from tocsin_testing.besieged import Besieged
from tocsin_testing.fakes import FakeTallies
from tocsin_testing.gate import FakeFreezes, FakeGate, FakeTimers
from tocsin_testing.issues import FakeIssues
from tocsin_testing.repositories import FakeForge
from tocsin_validation import checks
from tocsin_validation import graph as validating
from tocsin_validation.assembly import Outside, assembled
from tocsin_validation.surroundings.surveyor import Means

PATIENCE = Patience(timedelta(minutes=10), timedelta(minutes=15), timedelta(hours=24))


class Shop(Besieged):
    """Also keeps every event of the run, and what the forge was asked."""

    def __init__(self, folder, texts):
        super().__init__(folder, texts)
        self.forge = FakeForge(self.repositories)
        self.issues, self.timers = FakeIssues(), FakeTimers()
        self.gate, self.plain = FakeGate(self.clock), InMemorySaver()
        self.asking, self.ids = Asking(("ana",), timedelta(hours=4)), count(1)
        self.freezing = Freezing(self.runs, FakeFreezes())
        self.events = []

    async def note(self, *events):
        """Keep events as the store does; return them as they are stored."""
        stored = [
            event.model_copy(update={"id": event.id or f"{next(self.ids):032x}"})
            for event in events
            if event
        ]
        await self.issues.remember(stored)
        self.events += stored
        moved = [event.state for event in self.events if event.state]
        self.runs.runs["r1"] = build.run(*self.events, id="r1", state=moved[-1])
        return stored

    async def carry_on(self, formed):
        """Take what rca said as far as it goes without a person; return the question, if any."""
        (stored,) = await self.note(formed)
        drafted = await self.note(*await self._validation().on_hypothesis_formed(stored))
        plans = [one for one in drafted if isinstance(one, PlanDrafted)]
        if not plans:
            return None
        asked = await self.note(await self._action().on_plan_drafted(plans[0]))
        return next((one for one in asked if isinstance(one, ApprovalRequested)), None)

    async def is_pending(self, asked):
        """Return whether nobody has decided about the plan."""
        found = await self.gate.get(asked.run_id, asked.plan.plan_hash)
        return found.state is ApprovalState.PENDING and not found.decisions

    async def approve_blindly(self, asked):
        """Let a person say yes to whatever is asked, and action write it."""
        await self.gate.decide(
            run_id=asked.run_id,
            plan_hash=asked.plan.plan_hash,
            surface="gateway",
            answer=DecisionKind.GRANTED,
            by="ana",
            reason="",
        )
        decision = build.decision(plan_hash=asked.plan.plan_hash)
        (granted,) = await self.note(build.approval_granted(run_id="r1", decision=decision))
        self.runs.runs["r1"] = build.run(*self.events, id="r1", state=RunState.APPLYING)
        await self.note(await self._action().on_approval_granted(granted))

    def _validation(self):
        outside = Outside(
            gitops=self.gitops,
            source=self.repositories,
            clusters=OneCluster(UnseenCluster("no cluster is connected")),
            issues=self.issues,
            runs=self.runs,
            approvals=self.gate,
            clock=self.clock,
        )

        def run_in(nodes):
            return Subgraph("validation", validating.build(nodes), self.plain)

        return assembled(outside, checks.load(), run_in, Means(kubectl=""))

    def _action(self):
        following = Following(
            gitops=self.gitops,
            source=self.repositories,
            comments=Comments(self.gitops, {"local": self.forge}, self.issues, self.gate),
            issues=self.issues,
            runs=self.runs,
            tallies=FakeTallies(),
            timers=self.timers,
            clock=self.clock,
            patience=PATIENCE,
            deploying=None,
        )
        nodes = ActionNodes(
            gitops=self.gitops,
            writer=Writer({"local": self.forge}, self.repositories, self.issues),
            source=self.repositories,
            approvals=self.gate,
            timers=self.timers,
            clock=self.clock,
            asking=self.asking,
            freezing=self.freezing,
        )
        return ActionHandlers(
            Subgraph("action", acting.build(nodes), self.plain),
            self.gate,
            self.runs,
            self.clock,
            following,
            asking=self.asking,
            freezing=self.freezing,
        )


@pytest.fixture
def shop(tmp_path):
    """Return what opens a shop with poisoned texts."""
    return lambda texts: Shop(tmp_path, texts)
