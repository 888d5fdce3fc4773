"""Helm renders a release before and after where it is there; without it, that is not known."""

import sys
from textwrap import dedent

import pytest

from tocsin_action import recheck
from tocsin_contracts import (
    CheckVerdict,
    Edit,
    FailureCode,
    ObjectRef,
    Place,
    Risk,
    RunId,
    SourceKind,
)
from tocsin_gitops.editing import apply
from tocsin_gitops.manifests import VALUES
from tocsin_gitops.policy import RepositoryRule, WritePolicy
from tocsin_testing import build
from tocsin_validation import checks, drafting
from tocsin_validation.checks.verdicts import ask
from tocsin_validation.facts import Known, Surroundings, told
from tocsin_validation.outlook import risk
from tocsin_validation.ports import Proposed
from tocsin_validation.surroundings import charting
from tocsin_validation.surroundings.asked import NotTold

FILE = "envs/prod.yaml"
PATH = ("spec", "replicas")
API = ObjectRef(kind="Deployment", namespace="shop", name="api")
FILES = {
    "charts/api/Chart.yaml": b"apiVersion: v2\nname: api\nversion: 0.1.0\n",
    "charts/api/values.yaml": b"replicas: 1\nport: 80\n",
    "charts/api/templates/api.yaml": dedent("""\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
        spec:
          replicas: {{ .Values.replicas }}
          selector: {matchLabels: {app: api}}
          template:
            metadata: {labels: {app: api}}
            spec: {containers: [{name: api, image: "ghcr.io/shop/api:1"}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: {{ .Release.Name }}}
        spec: {ports: [{port: {{ .Values.port }}}]}
        """).encode(),
    FILE: b"replicas: 2\n",
}
PLACE = Place(
    host="local",
    repo="shop/gitops",
    revision="main",
    by="Application argocd/api",
    path="charts/api",
    kind=SourceKind.HELM,
    release="api",
    value_files=(FILE,),
)
EDIT = Edit(
    file=FILE,
    document=ObjectRef(kind=VALUES, name=FILE),
    path=("replicas",),
    old=2,
    new=3,
    renders=build.field_change(object=API, path=PATH, old=2, new=3),
)
AFTER = apply(FILES, (EDIT,))
STAND_IN = """\
#!{python}
import json, pathlib, sys
values = {{"replicas": 1}}
names = [sys.argv[n + 1] for n, word in enumerate(sys.argv) if word == "--values"]
for name in names:
    text = pathlib.Path(name).read_text()
    values |= json.loads(text) if text[0] == "{{" else dict([text.strip().split(": ")])
print("kind: Deployment\\nmetadata: {{name: api}}\\nspec: {{replicas: %s}}" % values["replicas"])
sys.exit("broken values" if str(values["replicas"]) == "9" else 0)
"""


@pytest.fixture
def stand_in(tmp_path):
    """A helm that knows one chart."""
    file = tmp_path / "helm"
    file.write_text(STAND_IN.format(python=sys.executable), encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def proposed(rendered=None):
    finding = build.finding(object=API, change=EDIT.renders)
    return Proposed(
        alert=build.alert(),
        hypothesis=build.hypothesis(finding=finding),
        target=build.target(repo="shop/gitops", file=FILE, document=EDIT.document, place=PLACE),
        edits=(EDIT,),
        before={FILE: FILES[FILE]},
        after=AFTER,
        modes={FILE: "100644"},
        policy=WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("**",)),)),
        issue_key="k",
        head_branch="tocsin/x",
        around=Surroundings(rendered=rendered or Known()),
    )


def answers(change):
    return {one.check: one for one in ask(checks.load(), change)}


async def refused(place=PLACE, helm="/never/started", files=FILES):
    with pytest.raises(NotTold) as error:
        await charting.render(helm, place, "shop", files, AFTER)
    return error.value


async def test_a_release_is_rendered_before_and_after(stand_in):
    rendered = await charting.render(stand_in, PLACE, "shop", FILES, AFTER)
    assert "replicas: 2" in rendered.before["charts/api"]
    assert "replicas: 3" in rendered.after["charts/api"]


async def test_what_cannot_be_rendered_afterwards_is_a_fault_of_the_change(stand_in):
    rendered = await charting.render(stand_in, PLACE, "shop", FILES, {FILE: b"replicas: 9\n"})
    assert "broken values" in rendered.fault


async def test_values_that_an_object_of_the_repository_sets_are_handed_on(stand_in):
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
        b"metadata: {name: api, namespace: argocd}\n"
        b"spec: {source: {helm: {valuesObject: {replicas: 7}}}}\n"
    )
    place = PLACE.model_copy(update={"overrides": ("value replicas",)})
    files = FILES | {"apps/api.yaml": text}
    rendered = await charting.render(stand_in, place, "shop", files, AFTER)
    assert rendered.before == rendered.after
    assert "replicas: 7" in rendered.before["charts/api"]


async def test_without_helm_it_is_not_known_and_that_is_a_risk():
    error = await refused(helm="")
    assert error.code is FailureCode.MISSING_TOOL
    change = proposed(Known(None, str(error), error.code))
    found = answers(change)
    for name in ("renders", "render-touches-only-target"):
        assert (found[name].verdict, found[name].code) == (CheckVerdict.UNKNOWN, error.code)
    assert risk.assess(change, list(found.values()))[0] is not Risk.LOW


async def test_values_that_nobody_can_see_here_are_not_rendered():
    place = PLACE.model_copy(update={"overrides": ("value replicas",)})
    assert (await refused(place)).code is FailureCode.UNSUPPORTED
    place = PLACE.model_copy(update={"value_files": ("gone.yaml",)})
    assert "gone.yaml" in str(await refused(place))


@pytest.mark.parametrize(
    "odd",
    [
        {"release": "--post-renderer=/bin/sh"},
        {"release": ""},
        {"value_files": (FILE, "a.yaml,https://charts.example/b.yaml")},
    ],
)
async def test_no_name_becomes_a_flag_or_an_address(odd):
    files = FILES | {"a.yaml,https://charts.example/b.yaml": b"replicas: 2\n"}
    error = await refused(PLACE.model_copy(update=odd), files=files)
    assert "cannot be handed to helm" in str(error)


async def test_a_proposal_renders_nothing():
    rendered = await charting.render("", PLACE, "shop", FILES, {"remediations/a.md": b"x"})
    assert rendered.after == {}


def test_the_other_checks_know_a_value_by_the_object_it_is_for():
    found = answers(proposed())
    for name in ("policy-allows", "target-is-writable", "value-is-current", "scope-is-exact"):
        assert found[name].verdict is CheckVerdict.PASS, found[name]
    assert found["no-hostile-manifest"].verdict is CheckVerdict.PASS


async def test_what_is_rendered_has_to_change_in_the_one_field(stand_in):
    rendered = await charting.render(stand_in, PLACE, "shop", FILES, AFTER)
    assert (
        answers(proposed(told(rendered)))["render-touches-only-target"].verdict is CheckVerdict.PASS
    )
    wider = rendered.after["charts/api"].replace("name: api", "name: api, labels: {a: b}")
    wrong = type(rendered)(before=rendered.before, after={"charts/api": wider})
    assert answers(proposed(told(wrong)))["render-touches-only-target"].verdict is CheckVerdict.FAIL


async def test_the_plan_holds_what_action_judges_and_writes_again(stand_in):
    rendered = await charting.render(stand_in, PLACE, "shop", FILES, AFTER)
    change = proposed(told(rendered))
    judged = risk.judged(change, list(answers(change).values()))
    plan = drafting.plan(RunId(build.RUN), change, judged, "1" * 40)
    assert plan.title == "api: replicas 2 -> 3"
    assert plan.diff.endswith("-replicas: 2\n+replicas: 3\n")
    after, why = recheck.rebuilt(plan, change.before, change.policy)
    assert (after, why) == (AFTER, "")


async def test_helm_itself_proves_the_change(helm):
    rendered = await charting.render(helm, PLACE, "shop", FILES, AFTER)
    found = answers(proposed(told(rendered)))
    assert found["render-touches-only-target"].verdict is CheckVerdict.PASS
    assert found["schema-is-valid"].verdict is CheckVerdict.PASS
    assert "replicas: 3" in rendered.after["charts/api"]
    broken = FILES | {"charts/api/templates/api.yaml": b'{{ fail "no" }}'}
    assert (await refused(helm=helm, files=broken)).code is FailureCode.RENDER_FAILED
