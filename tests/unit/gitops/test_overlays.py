"""Where a base is for several, the one overlay is changed, and what kustomize makes says so."""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from tocsin_contracts import ChangeOp, EditOp, FieldChange, ObjectRef, SourceKind
from tocsin_contracts.place import Place
from tocsin_gitops.carrying import carried, inverse
from tocsin_gitops.editing import EditRefused, apply
from tocsin_gitops.locate import Located, NotLocated, Reason, locate
from tocsin_gitops.policy import Change, RepositoryRule, WritePolicy, judge

_PLACES = os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))
KUBECTL = shutil.which("kubectl", path=_PLACES)
needs_kubectl = pytest.mark.skipif(not KUBECTL, reason="there is no kubectl")
POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("**/*.yaml",)),))
API = ObjectRef(kind="Deployment", namespace="prod", name="api")
CONTAINER = ("spec", "template", "spec", "containers", "[name=api]")
MEMORY = (*CONTAINER, "resources", "limits", "memory")
IMAGE = "registry.acme.example/pay/api"
PROD, STAGING = "apps/prod/kustomization.yaml", "apps/staging/kustomization.yaml"

DEPLOYMENT = f"""\
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: api
    spec:
      replicas: 2
      paused: true
      selector: {{matchLabels: {{app: api}}}}
      template:
        metadata: {{labels: {{app: api}}}}
        spec:
          containers:
            - name: api
              image: {IMAGE}:1.4.0
              env:
                - {{name: LEVEL, value: debug}}
              resources:
                limits: {{memory: 256Mi, cpu: 1}}
            - name: sidecar
              image: registry.acme.example/pay/sidecar:3
"""
PATCH = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: api}
    spec:
      template:
        spec:
          containers:
            - name: api
              resources:
                limits:
                  cpu: 2
"""


def memory(**more):
    usual = {"object": API, "path": MEMORY, "old": "256Mi", "new": "512Mi"}
    return FieldChange(**usual | more)


CHANGES = {
    "memory": memory(),
    "image": memory(path=(*CONTAINER, "image"), old=f"{IMAGE}:1.4.0", new=f"{IMAGE}:1.4.1"),
    "replicas": memory(path=("spec", "replicas"), old=2, new=4),
    "env": memory(path=(*CONTAINER, "env", "[name=LEVEL]", "value"), old="debug", new="info"),
    "paused": memory(path=("spec", "paused"), old=True, new=False),
}


def repository(prod="", more=None, base="", staging=""):
    texts = {
        "apps/base/kustomization.yaml": f"resources: [deployment.yaml]\n{dedent(base)}",
        "apps/base/deployment.yaml": DEPLOYMENT,
        PROD: f"namespace: prod\nresources:\n- ../base\n{dedent(prod)}",
        STAGING: f"namespace: staging\nresources:\n- ../base\n{dedent(staging)}",
        **(more or {}),
    }
    return {path: dedent(text).encode() for path, text in texts.items()}


def overlaid(files, change, place=None) -> Located:
    found = locate(files, change, place)
    assert isinstance(found, Located), found
    assert found.edit.renders == change
    return found


def shared(files, change) -> NotLocated:
    found = locate(files, change)
    assert isinstance(found, NotLocated), found
    assert found.reason is Reason.SHARED
    return found


def broken(files, edit):
    change = Change("shop/gitops", (edit,), files, apply(files, (edit,)), {edit.file: "100644"})
    return [violation.detail for violation in judge(POLICY, change)]


@lru_cache
def built(files):
    """Return what kustomize makes of both overlays."""
    both = b"resources: [../apps/prod, ../apps/staging]\n"
    with tempfile.TemporaryDirectory() as place:
        for path, data in (*files, ("all/kustomization.yaml", both)):
            file = Path(place, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        command = [KUBECTL, "kustomize", f"{place}/all"]
        made = subprocess.run(command, check=True, capture_output=True).stdout
    return leaves(list(yaml.safe_load_all(made)))


def leaves(value, way=()):
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, one in pairs for k, v in leaves(one, (*way, key)).items()}
    return {way: value}


def differences(files, after):
    """Return what kustomize makes differently in any of the overlays: old and new value."""
    old, new = (built(tuple(sorted(one.items()))) for one in (files, files | after))
    return [(old.get(k), new.get(k)) for k in old | new if old.get(k) != new.get(k)]


OTHER = """\
    kind: ConfigMap
    apiVersion: v1
    metadata: {name: other}
    ---
    kind: ReplicaSet
    apiVersion: apps/v1
    metadata: {name: other}
    spec: {replicas: 3}
"""
LISTS = {
    "nothing": "",
    "its own lists": """\
        images:
        - name: registry.acme.example/other
          newTag: "2"
        replicas:
        - name: other
          count: 1
        patches:
        - target: {kind: ConfigMap, name: other}
          patch: '[{"op": "add", "path": "/data", "value": {"a": "b"}}]'
    """,
    "a prefix": "nameSuffix: -x\n",
    "a patch file": "patches:\n- path: cpu.yaml\n",
}


@needs_kubectl
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("has", LISTS)
def test_kustomize_makes_the_one_change_in_the_one_overlay(what, has):
    change = CHANGES[what]
    if has == "a prefix":
        named = API.model_copy(update={"name": "api-x"})
        change = change.model_copy(update={"object": named})
    files = repository(LISTS[has], {"apps/prod/cpu.yaml": PATCH, "apps/base/other.yaml": OTHER})
    files["apps/base/kustomization.yaml"] = b"resources: [deployment.yaml, other.yaml]\n"
    edit = overlaid(files, change).edit
    after = apply(files, (edit,))
    assert broken(files, edit) == []
    assert differences(files, after) == [(change.old, change.new)]
    undone = apply(files | after, inverse((edit,)))
    assert undone[edit.file] == files[edit.file]


@pytest.mark.parametrize(
    ("what", "path"), [("image", "images"), ("replicas", "replicas"), ("memory", "patches")]
)
def test_each_field_has_its_section(what, path):
    found = overlaid(repository(), CHANGES[what])
    assert (found.file, found.path, found.op) == (PROD, (path,), ChangeOp.INSERT)
    assert any("for this deployment alone" in line for line in found.trace)


def test_a_patch_that_is_there_takes_the_field_in():
    found = overlaid(repository(LISTS["a patch file"], {"apps/prod/cpu.yaml": PATCH}), memory())
    assert (found.file, found.path, found.old) == ("apps/prod/cpu.yaml", MEMORY, None)


def test_a_patch_that_others_use_is_left_alone():
    uses = "patches:\n- path: ../cpu.yaml\n"
    files = repository(uses, {"apps/cpu.yaml": PATCH}, staging=uses)
    assert overlaid(files, memory()).file == PROD


def test_a_list_of_the_overlay_gets_one_more_item():
    found = overlaid(repository(LISTS["its own lists"]), CHANGES["replicas"])
    assert (found.op, found.new) == (ChangeOp.APPEND, {"name": "api", "count": 4})


def test_a_new_digest_becomes_a_digest():
    pinned = f"{IMAGE}@sha256:{'1' * 64}"
    found = overlaid(repository(), CHANGES["image"].model_copy(update={"new": pinned}))
    assert found.new == [{"name": IMAGE, "digest": f"sha256:{'1' * 64}"}]


@needs_kubectl
def test_an_image_that_others_of_the_overlay_run_too_is_patched_and_not_retagged():
    twin = DEPLOYMENT.replace("name: api\n    spec", "name: twin\n    spec")
    files = repository("", {"apps/base/twin.yaml": twin})
    files["apps/base/kustomization.yaml"] = b"resources: [deployment.yaml, twin.yaml]\n"
    change = CHANGES["image"]
    edit = overlaid(files, change).edit
    assert edit.path == ("patches",)
    told = differences(files, apply(files, (edit,)))
    assert told == [(change.old, change.new)]


@needs_kubectl
def test_a_base_that_renames_the_image_is_followed():
    base = f"images:\n- {{name: x, newName: {IMAGE}, newTag: 1.4.0}}\n"
    files = repository(base=base)
    plain = files["apps/base/deployment.yaml"]
    files["apps/base/deployment.yaml"] = plain.replace(f"{IMAGE}:1.4.0".encode(), b"x:dev")
    change = CHANGES["image"]
    edit = overlaid(files, change).edit
    told = differences(files, apply(files, (edit,)))
    assert told == [(change.old, change.new)]


def test_replicas_of_a_name_that_two_objects_have_are_patched():
    other = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: api}\nspec: {replicas: 2}\n"
    files = repository("", {"apps/base/other.yaml": other})
    files["apps/base/kustomization.yaml"] = b"resources: [deployment.yaml, other.yaml]\n"
    assert overlaid(files, CHANGES["replicas"]).path == ("patches",)


def test_the_innermost_overlay_that_is_alone_takes_it():
    more = {"apps/eu/kustomization.yaml": "resources: [../prod]\nnameSuffix: -eu\n"}
    change = memory(object=API.model_copy(update={"name": "api-eu"}))
    assert overlaid(repository(more=more), change).file == PROD


def test_an_overlay_that_is_for_two_is_left_alone():
    more = {
        "apps/eu/kustomization.yaml": "resources: [../prod]\nnameSuffix: -eu\n",
        "apps/us/kustomization.yaml": "resources: [../prod]\nnameSuffix: -us\n",
    }
    change = memory(object=API.model_copy(update={"name": "api-eu"}))
    assert overlaid(repository(more=more), change).file == "apps/eu/kustomization.yaml"


def test_a_base_that_is_deployed_itself_and_by_others_is_for_people():
    files = repository(base="namespace: test")
    place = Place(host="local", repo="shop/gitops", revision="main", by="x", path="apps/base")
    place = place.model_copy(update={"kind": SourceKind.KUSTOMIZE})
    change = memory(object=API.model_copy(update={"namespace": "test"}))
    found = locate(files, change, place)
    assert isinstance(found, NotLocated)
    assert (found.reason, "no overlay is for" in found.sentence) == (Reason.SHARED, True)


def test_a_place_of_argo_cd_is_followed_to_its_overlay():
    place = Place(
        host="local",
        repo="shop/gitops",
        revision="main",
        by="Application argocd/api",
        path="apps/prod",
        kind=SourceKind.KUSTOMIZE,
    )
    assert overlaid(repository(), memory(), place).file == PROD


@pytest.mark.parametrize(
    ("prod", "more"),
    [
        ("openapi: {path: schema.json}", {}),
        ("configurations: [images.yaml]", {}),
        ("generators: [make.yaml]", {}),
        ("images: []\npatches: [&a {path: x.yaml}, *a]", {"apps/prod/x.yaml": "a: 1"}),
    ],
)
def test_an_overlay_that_is_not_followed_to_the_end_is_not_changed(prod, more):
    assert isinstance(locate(repository(prod, more), memory()), NotLocated)


def test_what_is_taken_from_elsewhere_leaves_it_unproved():
    files = repository()
    files[PROD] += b"- https://github.com/acme/more?ref=v1\n"
    assert "from elsewhere" in shared(files, memory()).sentence


def test_a_list_that_a_patch_would_replace_is_not_patched():
    job = "apiVersion: acme.example/v1\nkind: Thing\nmetadata: {name: api}\n"
    job += "spec: {containers: [{name: api, memory: 1}, {name: b}]}\n"
    files = repository("", {"apps/base/deployment.yaml": job})
    thing = ObjectRef(kind="Thing", namespace="prod", name="api")
    change = FieldChange(
        object=thing, path=("spec", "containers", "[name=api]", "memory"), old=1, new=2
    )
    assert "might replace" in shared(files, change).sentence


def test_what_is_added_to_a_shared_base_is_for_people():
    change = memory(path=(*CONTAINER, "resources", "limits", "x"), op=ChangeOp.INSERT, old=None)
    assert "only given single values" in shared(repository(), change).sentence


def test_a_base_that_moved_on_is_told_and_not_patched():
    found = locate(repository(), memory(old="128Mi"))
    assert isinstance(found, Located)
    assert (found.file, found.old, found.agrees) == ("apps/base/deployment.yaml", "256Mi", False)


def test_a_base_that_holds_the_new_value_already_needs_nothing():
    found = locate(repository(), memory(old="256Mi", new="256Mi"))
    assert isinstance(found, Located)
    assert found.done


@pytest.mark.parametrize(
    "wrong",
    [
        {"new": "640Mi"},
        {"path": (*CONTAINER, "resources", "requests", "memory")},
        {"object": API.model_copy(update={"name": "other"})},
        {"op": ChangeOp.INSERT, "old": None},
    ],
)
@pytest.mark.parametrize("has", ["nothing", "a patch file"])
def test_an_edit_of_an_overlay_has_to_be_what_it_says(wrong, has):
    files = repository(LISTS[has], {"apps/prod/cpu.yaml": PATCH})
    edit = overlaid(files, memory()).edit
    lie = edit.model_copy(update={"renders": memory(**wrong)})
    assert broken(files, lie) != []


def test_a_patch_that_says_more_than_its_field_is_no_edit_of_that_field():
    files = repository()
    edit = overlaid(files, memory()).edit
    (entry,) = edit.new_tree
    more = entry | {"patch": f"{entry['patch']}\nstatus: {{}}"}
    lie = edit.model_copy(update={"new_tree": [more]})
    assert any("something else than what it says" in why for why in broken(files, lie))


def test_an_entry_is_judged_by_the_bounds_of_the_real_field():
    files = repository()
    change = memory(new="900Gi")
    assert any("memory" in why for why in broken(files, overlaid(files, change).edit))


def test_a_second_entry_for_the_same_is_never_added():
    files = repository(LISTS["its own lists"])
    edit = overlaid(files, CHANGES["replicas"]).edit
    assert edit.op is EditOp.APPEND
    held = files | apply(files, (edit,))
    assert carried((edit,), held) == ()
    more = edit.model_copy(update={"new_tree": {"name": "api", "count": 9}})
    with pytest.raises(EditRefused, match="another value"):
        carried((more,), held)
