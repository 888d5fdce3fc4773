"""What an undo would do is told of the undo, and not of the fix that it undoes."""

import pytest

from tocsin_contracts import ChangeOp, FixIneffective, PlanDrafted
from tocsin_testing import build
from tocsin_validation.outlook import preview

HPA = ("spec", "maxReplicas")


async def test_an_undo_tells_what_it_does_itself(world):
    whole = world.manifest.replace("spec:\n  template", "spec:\n  replicas: 2\n  template", 1)
    whole = whole.replace("  template:", "  selector: {matchLabels: {app: api}}\n  template:", 1)
    world.repositories.commit(world.repo, {world.file: whole})
    drafted = (await world.fire("r1"))[-1]
    assert isinstance(drafted, PlanDrafted)
    opened = await world.write(drafted)
    at = world.clock.now()
    world.repositories.merge(world.repo, opened.head_branch, ended_at=at, ended_by="ana")
    told = build.event(
        FixIneffective,
        run_id="r1",
        alert=drafted.alert,
        hypothesis=drafted.hypothesis,
        plan=drafted.plan,
        url=opened.url,
        merged_at=at,
        why="the alerts still fire",
    )
    (undo,) = await world.validation().on_fix_ineffective(told)
    assert "limits.memory: +128 MiB x 2 pod(s), +256 MiB in all." in drafted.plan.effects
    assert "limits.memory: -128 MiB x 2 pod(s), -256 MiB in all." in undo.plan.effects
    asked = undo.hypothesis.finding
    assert asked.summary.startswith(f"{opened.url} was merged at"), "not why the fix was made"
    assert "the alerts still fire" in undo.plan.body
    assert (asked.because, undo.hypothesis.alternatives) == ("", ())
    assert "found for" not in undo.plan.body, "not how the fix's place was found"


@pytest.mark.parametrize(
    ("op", "back"),
    [
        (ChangeOp.SET, (ChangeOp.SET, 8, 4)),
        (ChangeOp.INSERT, (ChangeOp.DELETE, 8, None)),
        (ChangeOp.DELETE, (ChangeOp.INSERT, None, 4)),
    ],
)
def test_a_change_is_turned_round(op, back):
    old = None if op is ChangeOp.INSERT else 4
    new = None if op is ChangeOp.DELETE else 8
    one = build.field_change(path=HPA, op=op, old=old, new=new)
    turned = preview.backwards(build.finding(change=one)).change
    assert (turned.op, turned.before, turned.after) == back


def test_what_cannot_be_turned_round_has_no_effects_that_are_told():
    item = build.field_change(path=("a",), op=ChangeOp.APPEND, old=None, new=2)
    finding = build.finding(change=build.field_change(), further=(item,))
    assert preview.backwards(finding).changes == ()
