"""What an exact undo may change, and what it has to prove for that."""

import pytest

from tocsin_contracts import Edit, EditOp, ObjectRef
from tocsin_gitops import editing
from tocsin_gitops.policy import Change, RepositoryRule, Rule, WritePolicy, judge
from tocsin_gitops.undoing import Step

POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("apps/**",)),))
FILE, COMMIT = "apps/api.yaml", "c" * 40
API = ObjectRef(kind="Deployment", name="api")
CONTAINER = ("spec", "template", "spec", "containers", "[name=api]")
BEFORE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
spec:
  template:
    spec:
      containers:
      - name: api
        image: registry.example.com/api:1
        args: ["serve", "--port", "80"]
        env:
        - name: MODE
          value: fast
        - name: REGION
          value: north
        resources:
          requests:
            cpu: 100m
"""


def undo(path, old, new, op=EditOp.SET, *, commit=COMMIT, document=API) -> Edit:
    tree_of = {
        f"{name}_tree" if isinstance(value, dict | list) else name: value
        for name, value in (("old", old), ("new", new))
    }
    return Edit(file=FILE, document=document, path=path, op=op, undo_of=commit, **tree_of)


def broken(edit: Edit, was: str, became: str, now: str = "", **changes) -> set[Rule]:
    before = {FILE: (now or became).encode()}
    step = Step(commit=COMMIT, file=FILE, before=was.encode(), after=became.encode())
    change = Change(
        repo="shop/gitops",
        edits=(edit,),
        before=before,
        after=editing.apply(before, (edit,)),
        modes={FILE: "100644"},
        past=changes.get("past", (step,)),
    )
    return {violation.rule for violation in judge(POLICY, change)}


def changed(old: str, new: str) -> str:
    assert old in BEFORE
    return BEFORE.replace(old, new)


def test_an_undone_amount_may_pass_the_factor_that_bounds_new_ones():
    edit = undo((*CONTAINER, "resources", "requests", "cpu"), 100, "100m")
    assert broken(edit, BEFORE, changed("cpu: 100m", "cpu: 100")) == set()


def test_an_undone_image_may_be_another_repository_since_it_ran_here():
    after = changed("registry.example.com/api:1", "registry.exmaple.com/api:2")
    edit = undo((*CONTAINER, "image"), "registry.exmaple.com/api:2", "registry.example.com/api:1")
    assert broken(edit, BEFORE, after) == set()


def test_an_undone_argument_may_be_written_and_no_other_ever():
    path, after = (*CONTAINER, "args", 2), changed('"80"', '"81"')
    assert broken(undo(path, "81", "80"), BEFORE, after) == set()
    assert broken(undo(path, "81", "82"), BEFORE, after) == {Rule.UNDO}
    assert broken(undo(path, "81", "80", commit=""), BEFORE, after) == {Rule.BOUND}


def test_a_commit_that_did_something_else_is_no_proof():
    path, after = (*CONTAINER, "args", 0), changed('"serve"', '"work"')
    assert broken(undo(path, "work", "serve"), after, after) == {Rule.UNDO}
    assert broken(undo(path, "work", "serve"), BEFORE, BEFORE, after) == {Rule.UNDO}


def test_a_commit_that_the_repository_does_not_know_is_no_proof():
    after, path = changed('"serve"', '"work"'), (*CONTAINER, "args", 0)
    assert broken(undo(path, "work", "serve"), BEFORE, after, past=()) == {Rule.UNDO}
    other = undo(path, "work", "serve", commit="d" * 40)
    assert broken(other, BEFORE, after) == {Rule.UNDO}


def test_a_command_that_a_commit_added_may_be_taken_away():
    after = changed("        args:", '        command: ["nothing"]\n        args:')
    edit = undo((*CONTAINER, "command"), ["nothing"], None, EditOp.DELETE)
    assert broken(edit, BEFORE, after) == set()
    assert broken(edit, after, after) == {Rule.UNDO}


def test_a_variable_that_a_commit_removed_may_be_given_back_as_it_was():
    after = changed("        - name: REGION\n          value: north\n", "")
    env, held = (*CONTAINER, "env"), [{"name": "MODE", "value": "fast"}]
    back = undo(env, held, {"name": "REGION", "value": "north"}, EditOp.APPEND)
    assert broken(back, BEFORE, after) == set()
    other = undo(env, held, {"name": "REGION", "value": "south"}, EditOp.APPEND)
    assert broken(other, BEFORE, after) == {Rule.UNDO}


def test_an_argument_without_a_name_comes_back_only_where_it_stood():
    after = changed('["serve", "--port", "80"]', '["--port"]')
    edit = undo((*CONTAINER, "args"), ["--port"], "80", EditOp.APPEND)
    assert broken(edit, BEFORE, after) == {Rule.UNDO}


@pytest.mark.parametrize("kind", ["Secret", "Role", "NetworkPolicy", "ServiceAccount"])
def test_kinds_that_are_never_written_are_not_undone_either(kind):
    was = f"kind: {kind}\nmetadata:\n  name: api\ndata:\n  a: one\n"
    ref = ObjectRef(kind=kind, name="api")
    edit = undo(("data", "a"), "two", "one", document=ref)
    assert broken(edit, was, was.replace("one", "two")) == {Rule.KIND}


def test_an_undo_takes_power_over_the_node_away_and_never_gives_it_back():
    path = (*CONTAINER, "securityContext", "privileged")
    powerful = changed(
        "        args:", "        securityContext:\n          privileged: true\n        args:"
    )
    humble = powerful.replace("privileged: true", "privileged: false")
    assert broken(undo(path, True, False), humble, powerful) == set()
    assert broken(undo(path, False, True), powerful, humble) == {Rule.BOUND}


def test_fields_of_the_node_and_of_volumes_are_not_undone():
    was = changed("      containers:", "      hostPID: false\n      containers:")
    edit = undo(("spec", "template", "spec", "hostPID"), True, False)
    assert broken(edit, was, was.replace("hostPID: false", "hostPID: true")) == {Rule.FIELD}
