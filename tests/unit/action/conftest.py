from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from textwrap import dedent

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action import graph
from tocsin_action.asking import Asking
from tocsin_action.commenting import Comments
from tocsin_action.following import Following
from tocsin_action.freezing import Freezing
from tocsin_action.handlers import Handlers
from tocsin_action.nodes import Nodes
from tocsin_action.proving import Patience
from tocsin_action.waiting import Waiting
from tocsin_action.writing import Writer
from tocsin_contracts import RunState
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gitops import editing, hashing
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.approvals import approval_id
from tocsin_kit.graphs import Subgraph
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock, FakeRuns, FakeTallies
from tocsin_testing.gate import FakeFreezes, FakeGate, FakeTimers
from tocsin_testing.issues import FakeIssues
from tocsin_testing.repositories import FakeForge, FakeRepositories

PATIENCE = Patience(
    sync=timedelta(minutes=10), verify=timedelta(minutes=15), cool_down=timedelta(hours=24)
)
REPO = build.target().repo
FILE = build.target().file
MANIFEST = dedent("""\
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
                  memory: 128Mi
    """).encode()


class Desk:
    """Action with everything around it; what a test changes here, the next worker sees."""

    repo, file, manifest = REPO, FILE, MANIFEST

    def __init__(self):
        self.clock = FakeClock()
        self.asking = Asking(approvers=("ana", "bo"), patience=timedelta(hours=4))
        self.repositories = self.source = FakeRepositories()
        self.forge = FakeForge(self.repositories)
        self.approvals = FakeGate(self.clock)
        self.issues, self.tallies = FakeIssues(), FakeTallies()
        self.timers, self.runs, self.saver = FakeTimers(), FakeRuns(), InMemorySaver()
        self.freezes = FakeFreezes()
        self.freezing = Freezing(self.runs, self.freezes)
        self.allow()
        self.base = self.commit({FILE: MANIFEST, "README.md": b"hello\n"})

    def allow(self, git_dir=Path("none.git"), **limits):
        repository = Repository(name=REPO, git_dir=git_dir, paths=("apps/**",))
        self.gitops = GitOps(repositories=(repository,), limits=limits)

    def commit(self, files):
        return self.repositories.commit(REPO, files)

    def plan(self, new="256Mi", edit=None, **changes):
        """Return the plan that validation drafts for the newest commit known here."""
        edit = edit or build.edit(new=new)
        before = {FILE: MANIFEST}
        after = editing.apply(before, (edit,))
        file = build.file_change(
            sha256_before=hashing.sha256(MANIFEST), sha256_after=hashing.sha256(after[FILE])
        )
        fields = {
            "base_sha": self.base,
            "parent_sha": self.base,
            "edits": (edit,),
            "files": (file,),
            "diff": editing.unified_diff(before, after),
            "head_branch": hashing.head_branch(build.plan().issue_key, "payments-api-memory"),
            "policy_version": self.gitops.policy.version,
        }
        return build.plan(**(fields | changes))

    def handlers(self):
        """Return the handlers of a worker that knows only what is stored."""
        nodes = Nodes(
            gitops=self.gitops,
            writer=Writer(self.forges, self.source, self.issues),
            source=self.source,
            approvals=self.approvals,
            timers=self.timers,
            clock=self.clock,
            asking=self.asking,
            freezing=self.freezing,
        )
        acting = Subgraph("action", graph.build(nodes), self.saver)
        return Handlers(
            acting,
            self.approvals,
            self.runs,
            self.clock,
            self.following(),
            asking=self.asking,
            freezing=self.freezing,
        )

    def waiting(self):
        """Return what looks at approvals that wait."""
        return Waiting(self.approvals, self.runs, self.clock, self.asking, timers=self.timers)

    def following(self):
        """Return the follower of a worker that knows only what is stored."""
        return Following(
            gitops=self.gitops,
            source=self.source,
            comments=Comments(self.gitops, self.forges, self.issues, self.approvals),
            issues=self.issues,
            runs=self.runs,
            tallies=self.tallies,
            timers=self.timers,
            clock=self.clock,
            patience=PATIENCE,
        )

    @property
    def forges(self):
        return {"local": self.forge}

    async def ask(self, plan=None, **event):
        """Put a plan to people; return what action says."""
        drafted = build.plan_drafted(plan=plan or self.plan(), **event)
        self.stands(RunState.VALIDATING, drafted)
        asked = await self.handlers().on_plan_drafted(drafted)
        self.stands(RunState.AWAITING_APPROVAL, drafted, asked)
        return asked

    def stands(self, state, *facts):
        self.runs.runs[build.RUN] = build.run(build.alert_accepted(), *facts, state=state)

    async def say(self, asked, answer=DecisionKind.GRANTED):
        """Decide, and return the event that tells of it."""
        plan_hash = asked.plan.plan_hash
        await self.approvals.decide(
            run_id=build.RUN,
            plan_hash=plan_hash,
            surface="gateway",
            answer=answer,
            by="ana",
            reason="",
        )
        return build.approval_granted(decision=build.decision(plan_hash=plan_hash))

    async def approved(self, plan=None):
        """Put a plan to people who say yes; return the event that tells of it."""
        return await self.say(await self.ask(plan))

    def record(self, plan, state=ApprovalState.GRANTED, **changes):
        """Put an approval record there as if it had always been so."""
        names = {"id": approval_id(build.RUN, plan.plan_hash), "plan_hash": plan.plan_hash}
        record = replace(build.approval(state=state), **(names | changes))
        self.approvals.approvals[build.RUN, plan.plan_hash] = record

    @property
    def pulls(self):
        return list(self.repositories.opened.values())


@pytest.fixture
def desk():
    return Desk()
