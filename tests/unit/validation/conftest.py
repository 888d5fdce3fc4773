"""Validation and action around one repository, as far as they meet in facts and on the forge."""

from datetime import timedelta
from itertools import count
from pathlib import Path
from textwrap import dedent

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
from tocsin_contracts import ApprovalRequested, HypothesisFormed, RunState
from tocsin_contracts.views import DecisionKind
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.graphs import Subgraph
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeFreezes, FakeGate, FakeTimers
from tocsin_testing.issues import FakeIssues
from tocsin_testing.repositories import FakeForge, FakeRepositories
from tocsin_validation import checks
from tocsin_validation import graph as validating
from tocsin_validation.assembly import Outside, assembled
from tocsin_validation.surroundings.surveyor import Means

REPO = build.target().repo
FILE = "apps/payments-api/deployment.yaml"
MANIFEST = dedent("""\
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: payments-api
      namespace: payments
    spec:
      template:
        spec:
          containers:
            - name: api
              resources:
                limits:
                  memory: "128Mi"  # be careful
    """)


class World:
    """Both services on one repository; every run's facts are kept as the store keeps them."""

    repo, file, manifest = REPO, FILE, MANIFEST

    def __init__(self, git_dir=Path("none.git")):
        self.clock = FakeClock()
        self.repositories = self.source = FakeRepositories()
        self.forge = FakeForge(self.repositories)
        self.issues, self.runs, self.timers = FakeIssues(), FakeRuns(), FakeTimers()
        self.tallies = FakeTallies()
        self.approvals, self.saver = FakeGate(self.clock), InMemorySaver()
        self.facts, self.ids = {}, count()
        self.deploying, self.freezes = None, FakeFreezes()
        self.means = Means(kubectl="")
        self.asking = Asking(
            ("ana",), timedelta(hours=4), accounts={"github:11": "bo", "github:12": "cy"}
        )
        repository = Repository(name=REPO, git_dir=git_dir, paths=("apps/**",))
        self.gitops = GitOps(repositories=(repository,))
        self.repositories.commit(REPO, {FILE: MANIFEST})

    def validation(self):
        """Return the handlers of a worker that knows only what is stored."""
        outside = Outside(
            gitops=self.gitops,
            source=self.source,
            clusters=OneCluster(UnseenCluster("no cluster is connected")),
            issues=self.issues,
            runs=self.runs,
            approvals=self.approvals,
            clock=self.clock,
        )
        run_in = lambda nodes: Subgraph("validation", validating.build(nodes), self.saver)  # noqa: E731
        return assembled(outside, checks.load(), run_in, self.means)

    def following(self):
        patience = Patience(timedelta(minutes=10), timedelta(minutes=15), timedelta(hours=24))
        return Following(
            gitops=self.gitops,
            source=self.source,
            comments=Comments(self.gitops, {"local": self.forge}, self.issues, self.approvals),
            issues=self.issues,
            runs=self.runs,
            tallies=self.tallies,
            timers=self.timers,
            clock=self.clock,
            patience=patience,
            deploying=self.deploying,
        )

    def action(self):
        nodes = ActionNodes(
            gitops=self.gitops,
            writer=Writer({"local": self.forge}, self.source, self.issues),
            source=self.source,
            approvals=self.approvals,
            timers=self.timers,
            clock=self.clock,
            asking=self.asking,
            freezing=Freezing(self.runs, self.freezes),
        )
        graph = Subgraph("action", acting.build(nodes), self.saver)
        return ActionHandlers(
            graph,
            self.approvals,
            self.runs,
            self.clock,
            self.following(),
            asking=self.asking,
            freezing=Freezing(self.runs, self.freezes),
        )

    async def note(self, run_id, events):
        """Commit what a handler said, as the run store does."""
        now = self.clock.now()
        events = [
            event.model_copy(update={"at": now, "id": event.id or f"{next(self.ids):032x}"})
            for event in events
        ]
        await self.issues.remember(events)
        known = self.facts.setdefault(run_id, {"opened": build.alert_accepted(run_id=run_id)})
        known |= {event.topic: event for event in events}
        moved = [event.state for event in events if event.state]
        state = moved[-1] if moved else self.runs.runs[run_id].state
        facts = tuple(known.values())
        self.runs.runs[run_id] = build.run(*facts, id=run_id, state=state)
        return events

    def formed(self, run_id, new="256Mi", **event):
        change = build.field_change(new=new)
        hypothesis = build.hypothesis(finding=build.finding(change=change))
        return build.event(HypothesisFormed, run_id=run_id, hypothesis=hypothesis, **event)

    async def fire(self, run_id, new="256Mi", **event):
        """Form a hypothesis; return what validation says."""
        formed = self.formed(run_id, new, **event)
        await self.note(run_id, [formed])
        return await self.note(run_id, await self.validation().on_hypothesis_formed(formed))

    async def decide(self, drafted, answer=DecisionKind.GRANTED):
        """Put a plan to people who decide; return the event that tells of it."""
        run_id, plan_hash = drafted.run_id, drafted.plan.plan_hash
        asked = await self.action().on_plan_drafted(drafted)
        assert isinstance(asked, ApprovalRequested), asked
        await self.note(run_id, [asked])
        await self.approvals.decide(
            run_id=run_id,
            plan_hash=plan_hash,
            surface="gateway",
            answer=answer,
            by="ana",
            reason="",
        )
        return build.approval_granted(
            run_id=run_id, decision=build.decision(plan_hash=plan_hash), id=plan_hash[:32]
        )

    async def write(self, drafted):
        """Have a plan approved and written; return what action says."""
        granted = await self.decide(drafted)
        self.runs.runs[drafted.run_id] = build.run(
            *self.facts[drafted.run_id].values(), id=drafted.run_id, state=RunState.APPLYING
        )
        (said,) = await self.note(
            drafted.run_id, [await self.action().on_approval_granted(granted)]
        )
        return said

    async def proposed(self, run_id, new="256Mi"):
        """Bring a run to its pull request; return the fact of it."""
        drafted = (await self.fire(run_id, new))[-1]
        return await self.write(drafted)

    def pull(self, branch=None):
        """Return the pull request of a branch, or the only one there is."""
        if branch:
            return self.repositories.opened[REPO, branch]
        (only,) = self.repositories.opened.values()
        return only

    async def ring(self):
        """Let the newest timer come due; return what its handler says."""
        timer = self.timers.set[-1]
        wait = (timer.due_at - self.clock.now()).total_seconds()
        self.clock.advance(max(wait, 0))
        following = self.following()
        due = {"pull-look": following.on_pull_look, "fix-look": following.on_fix_look}
        return await self.note(timer.run_id, await due[timer.kind](timer))


@pytest.fixture
def world():
    return World()
