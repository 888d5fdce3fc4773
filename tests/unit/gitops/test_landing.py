"""Where fields are added to and taken away from, when several layers make one object."""

from textwrap import dedent

import pytest

from tocsin_contracts import ChangeOp, FieldChange, ObjectRef
from tocsin_gitops.editing import apply
from tocsin_gitops.locate import Located, NotLocated, Reason, locate

API = ObjectRef(kind="Deployment", namespace="payments", name="api")
POD = ("spec", "template", "spec")
CPU = (*POD, "containers", "[name=api]", "resources", "requests", "cpu")
TOLERATION = {"key": "gpu", "operator": "Exists"}
DEPLOYMENT = """\
    kind: Deployment
    metadata: {name: api}
    spec:
      template:
        spec:
          nodeSelector:
            disk: ssd
          tolerations:
          - {key: spot, operator: Exists}
          containers:
          - name: api
            image: a:1
"""
PATCH = """\
    kind: Deployment
    metadata: {name: api}
    spec:
      template:
        spec:
          containers:
          - name: api
            env: []
"""
BASE = {"apps/base/kustomization.yaml": "resources: [api.yaml]", "apps/base/api.yaml": DEPLOYMENT}


def overlay(name: str, namespace: str, *more: str, patch: str = "") -> dict[str, str]:
    lines = [f"namespace: {namespace}", "resources: [../base]", *more]
    files = {f"apps/{name}/patch.yaml": patch} if patch else {}
    named = ["patches: [{path: patch.yaml}]"] if patch else []
    return {f"apps/{name}/kustomization.yaml": "\n".join([*lines, *named]), **files}


def repository(*parts: dict[str, str]) -> dict[str, bytes]:
    return {path: dedent(text).encode() for part in parts for path, text in part.items()}


def inserted(**changes) -> FieldChange:
    fields = {"object": API, "op": ChangeOp.INSERT, "path": CPU, "new": "100m"}
    return FieldChange(**(fields | changes))


def appended(old, new=TOLERATION) -> FieldChange:
    path = (*POD, "tolerations")
    return FieldChange(object=API, op=ChangeOp.APPEND, path=path, old_tree=old, new_tree=new)


def deleted(path=(*POD, "nodeSelector", "disk"), old="ssd") -> FieldChange:
    return FieldChange(object=API, op=ChangeOp.DELETE, path=path, old=old)


def located(files: dict[str, bytes], change: FieldChange) -> tuple[Located, str]:
    found = locate(files, change)
    assert isinstance(found, Located), found
    assert found.agrees
    return found, apply(files, [found.edit])[found.file].decode()


def refused(files: dict[str, bytes], change: FieldChange) -> NotLocated:
    found = locate(files, change)
    assert isinstance(found, NotLocated), found
    return found


def test_a_field_goes_into_the_only_file_that_describes_its_container():
    found, text = located(repository(BASE, overlay("prod", "payments")), inserted())
    assert found.file == "apps/base/api.yaml"
    assert text.endswith(
        "image: a:1\n        resources:\n          requests:\n            cpu: 100m\n"
    )


def test_a_field_goes_into_the_patch_that_describes_the_same_container():
    files = repository(BASE, overlay("prod", "payments", patch=PATCH), overlay("dev", "dev"))
    found, text = located(files, inserted())
    assert found.file == "apps/prod/patch.yaml"
    assert "resources:\n          requests:\n            cpu: 100m\n" in text


def test_a_field_does_not_go_into_a_base_that_others_share():
    files = repository(BASE, overlay("prod", "payments"), overlay("dev", "dev"))
    found = refused(files, inserted())
    assert found.reason is Reason.SHARED
    assert "apps/dev" in found.sentence


def test_another_overlay_shares_the_base_even_if_it_patches_the_same_list():
    patch = PATCH.replace("containers:", "tolerations: []\n      containers:")
    files = repository(BASE, overlay("prod", "payments"), overlay("dev", "dev", patch=patch))
    old = [{"key": "spot", "operator": "Exists"}]
    assert refused(files, appended(old)).reason is Reason.SHARED


def test_a_field_that_is_there_already_is_no_place_for_a_new_one():
    full = DEPLOYMENT.replace("image: a:1", "resources: {requests: {cpu: 50m}}")
    files = repository({**BASE, "apps/base/api.yaml": full}, overlay("prod", "payments"))
    found = locate(files, inserted())
    assert isinstance(found, Located)
    assert (found.old, found.agrees, found.done) == ("50m", False, False)
    same = locate(files, inserted(new="0.05"))
    assert isinstance(same, Located)
    assert same.done


def test_a_container_that_no_file_describes_takes_no_field_in():
    path = tuple("[name=web]" if step == "[name=api]" else step for step in CPU)
    files = repository(BASE, overlay("prod", "payments"))
    assert refused(files, inserted(path=path)).reason is Reason.NOT_FOUND


def test_an_item_is_added_to_the_list_that_the_cluster_may_show_with_more_in_it():
    shown = [{"key": "spot", "operator": "Exists", "effect": ""}, {"key": "not-ready"}]
    found, text = located(repository(BASE, overlay("prod", "payments")), appended(shown))
    assert found.old == [{"key": "spot", "operator": "Exists"}]
    assert "- {key: spot, operator: Exists}\n      - key: gpu\n        operator: Exists\n" in text


def test_a_list_that_holds_what_the_cluster_does_not_show_has_moved_on():
    found = locate(repository(BASE, overlay("prod", "payments")), appended([{"key": "other"}]))
    assert isinstance(found, Located)
    assert not found.agrees


def test_an_item_that_is_there_already_is_not_added_again():
    known = {"key": "spot", "operator": "Exists"}
    found = locate(repository(BASE, overlay("prod", "payments")), appended([known], known))
    assert isinstance(found, Located)
    assert found.done


def test_the_last_key_of_a_mapping_leaves_empty_brackets():
    found, text = located(repository(BASE, overlay("prod", "payments")), deleted())
    assert found.file == "apps/base/api.yaml"
    assert "nodeSelector: {}\n" in text


def test_what_another_layer_would_bring_back_is_not_taken_away():
    patch = PATCH.replace("containers:", "nodeSelector: {disk: nvme}\n          containers:")
    files = repository(BASE, overlay("prod", "payments", patch=patch))
    found = refused(files, deleted(old="nvme"))
    assert found.reason is Reason.UNEDITABLE
    assert "without that 'apps/base/api.yaml' would" in found.sentence


@pytest.mark.parametrize(
    ("pointer", "why"),
    [
        ("/spec/template/spec/containers/0/resources/requests/cpu/x", "JSON patch"),
        ("/spec/template", "JSON patch"),
    ],
)
def test_a_json_patch_of_a_part_of_the_field_leaves_its_place_in_doubt(pointer, why):
    patch = f"- {{op: add, path: {pointer}, value: 1}}"
    target = "patches: [{path: patch.yaml, target: {kind: Deployment, name: api}}]"
    files = repository(
        BASE, overlay("prod", "payments", target), {"apps/prod/patch.yaml": patch}
    )  # fmt: skip
    found = refused(files, inserted())
    assert found.reason is Reason.UNEDITABLE
    assert why in found.sentence


def test_a_json_patch_of_something_else_is_in_nobodys_way():
    patch = "- {op: replace, path: /spec/replicas, value: 3}"
    target = "patches: [{path: patch.yaml, target: {kind: Deployment, name: api}}]"
    files = repository(
        BASE, overlay("prod", "payments", target), {"apps/prod/patch.yaml": patch}
    )  # fmt: skip
    assert located(files, deleted())[0].file == "apps/base/api.yaml"


def test_a_patch_with_directives_is_not_followed():
    patch = PATCH.replace("env: []", "$patch: replace")
    found = refused(repository(BASE, overlay("prod", "payments", patch=patch)), inserted())
    assert found.reason is Reason.UNEDITABLE
    assert "directives" in found.sentence
