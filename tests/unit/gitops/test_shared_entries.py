"""A line that decides more than the one field is left to people, whatever section it stands in."""

from textwrap import dedent

import pytest

from tocsin_contracts import FieldChange, ObjectRef
from tocsin_gitops.locate import Located, NotLocated, Reason, locate

IMAGE = "registry.acme.example/pay/api"
API = ObjectRef(kind="Deployment", namespace="prod", name="api")
PODS = ("spec", "template", "spec")
RETAGGED = f"images:\n- {{name: {IMAGE}, newTag: '2'}}\n"


def workload(kind: str, name: str, *containers: str, section: str = "containers") -> str:
    items = "".join(f"        - {one}\n" for one in containers)
    head = f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n"
    return f"{head}spec:\n  template:\n    spec:\n      {section}:\n{items}"


def container(name: str, image: str = IMAGE) -> str:
    return f"{{name: {name}, image: '{image}:1', resources: {{limits: {{memory: 1Gi}}}}}}"


def repository(manifest: str, prod: str = "", more: dict[str, str] | None = None):
    texts = {
        "base/kustomization.yaml": f"resources: [d.yaml{', more.yaml' if more else ''}]\n",
        "base/d.yaml": manifest,
        "prod/kustomization.yaml": f"namespace: prod\nresources: [../base]\n{dedent(prod)}",
        "test/kustomization.yaml": "namespace: test\nresources: [../base]\n",
        **(more or {}),
    }
    return {path: text.encode() for path, text in texts.items()}


def retag(files, path=(*PODS, "containers", "[name=api]", "image")):
    return locate(files, FieldChange(object=API, path=path, old=f"{IMAGE}:2", new=f"{IMAGE}:3"))


def raise_memory(files, name="api", section="containers"):
    path = (*PODS, section, f"[name={name}]", "resources", "limits", "memory")
    return locate(files, FieldChange(object=API, path=path, old="1Gi", new="2Gi"))


def test_an_entry_that_retags_one_container_is_its_own():
    found = retag(repository(workload("Deployment", "api", container("api")), RETAGGED))
    assert isinstance(found, Located), found
    assert found.path == ("images", f"[name={IMAGE}]", "newTag")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job"])
def test_an_entry_that_retags_another_workload_too_is_not_edited(kind):
    more = {"base/more.yaml": workload(kind, "worker", container("main"))}
    found = retag(repository(workload("Deployment", "api", container("api")), RETAGGED, more))
    assert isinstance(found, NotLocated)
    assert found.reason is Reason.SHARED
    assert f"of {kind} worker" in found.sentence


def test_an_entry_that_retags_a_second_container_of_the_pod_is_not_edited():
    manifest = workload("Deployment", "api", container("api"), container("migrate"))
    found = retag(repository(manifest, RETAGGED))
    assert isinstance(found, NotLocated)
    assert "[name=migrate]" in found.sentence


def test_an_entry_of_the_base_is_overruled_in_the_one_overlay():
    files = repository(workload("Deployment", "api", container("api")))
    files["base/kustomization.yaml"] += RETAGGED.encode()
    found = retag(files)
    assert isinstance(found, Located), found
    assert (found.file, found.path) == ("prod/kustomization.yaml", ("images",))


@pytest.mark.parametrize("section", ["containers", "initContainers"])
def test_a_patch_that_would_change_the_order_of_containers_is_not_proposed(section):
    manifest = workload("Deployment", "api", container("first"), container("api"), section=section)
    found = raise_memory(repository(manifest), section=section)
    assert isinstance(found, NotLocated)
    assert found.reason is Reason.SHARED
    assert "to the front of its list" in found.sentence
    assert isinstance(raise_memory(repository(manifest), "first", section), Located)


def test_a_patch_below_that_begins_with_another_container_counts_for_the_order():
    manifest = workload("Deployment", "api", container("api"), container("side"))
    files = repository(manifest, more={"base/more.yaml": "kind: ConfigMap\nmetadata: {name: x}\n"})
    files["base/kustomization.yaml"] += b"patches: [{path: side.yaml}]\n"
    side = workload("Deployment", "api", "{name: side, image: x}")
    files["base/side.yaml"] = side.encode()
    found = raise_memory(files)
    assert isinstance(found, NotLocated)
    assert "to the front of its list" in found.sentence


def test_a_component_of_a_component_is_a_layer_too():
    files = repository(
        workload("Deployment", "api", container("api")), "components: [../outer]", more={}
    )
    files |= {
        "outer/kustomization.yaml": b"kind: Component\ncomponents: [../inner]\n",
        "inner/kustomization.yaml": b"kind: Component\npatches: [{path: p.yaml}]\n",
        "inner/p.yaml": workload("Deployment", "api", container("api")).encode(),
    }
    found = raise_memory(files)
    assert isinstance(found, Located), found
    assert found.file == "inner/p.yaml"


def test_components_that_list_each_other_end():
    files = repository(workload("Deployment", "api", container("api")), "components: [../a]")
    files |= {
        "a/kustomization.yaml": b"kind: Component\ncomponents: [../b]\n",
        "b/kustomization.yaml": b"kind: Component\ncomponents: [../a]\n",
    }
    assert isinstance(raise_memory(files), Located)


ROLLOUT = API.model_copy(update={"kind": "Rollout"})
MEMORY = (*PODS, "containers", "[name=api]", "resources", "limits", "memory")


def of_rollout(files, path=MEMORY, old="1Gi", new="2Gi"):
    return locate(files, FieldChange(object=ROLLOUT, path=path, old=old, new=new))


def test_a_field_of_an_argo_rollout_is_found_like_one_of_a_deployment():
    files = repository(workload("Rollout", "api", container("api")))
    del files["test/kustomization.yaml"]
    found = of_rollout(files)
    assert isinstance(found, Located), found
    assert (found.file, found.old, found.new) == ("base/d.yaml", "1Gi", "2Gi")


def test_the_lists_of_a_rollout_are_never_patched_as_kustomize_would_replace_them():
    found = of_rollout(repository(workload("Rollout", "api", container("api"))))
    assert isinstance(found, NotLocated)
    assert "might replace what is around it" in found.sentence


def test_what_a_patch_of_a_rollout_replaces_is_not_looked_for_below_it():
    files = repository(workload("Rollout", "api", container("api")), "patches: [{path: p.yaml}]")
    files["prod/p.yaml"] = workload("Rollout", "api", "{name: api, image: x}").encode()
    found = of_rollout(files)
    assert isinstance(found, NotLocated)
    assert "replaces all of the list" in found.sentence


def test_an_entry_of_replicas_is_not_for_a_rollout():
    manifest = workload("Rollout", "api", container("api")).replace(
        "spec:\n", "spec:\n  replicas: 2\n", 1
    )
    files = repository(manifest, "replicas: [{name: api, count: 2}]")
    found = of_rollout(files, ("spec", "replicas"), 2, 4)
    assert isinstance(found, Located), found
    assert found.path == ("patches",)
