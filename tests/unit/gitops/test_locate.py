from textwrap import dedent

import pytest

from tocsin_contracts import FieldChange, ObjectRef
from tocsin_gitops import placements
from tocsin_gitops.editing import apply, unified_diff
from tocsin_gitops.locate import Located, NotLocated, Reason, locate

API = ObjectRef(kind="Deployment", namespace="payments", name="payments-api")
CONTAINER = ("spec", "template", "spec", "containers", "[name=api]")
MEMORY = (*CONTAINER, "resources", "limits", "memory")
IMAGE = (*CONTAINER, "image")
REPLICAS = ("spec", "replicas")
REGISTRY = "registry.acme.example/pay/api"

DEPLOYMENT = f"""\
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: payments-api
    spec:
      replicas: 2
      template:
        spec:
          containers:
            - name: api
              image: {REGISTRY}:1.4.0
              resources:
                limits: {{memory: 256Mi, cpu: 1}}
"""
PATCH = """\
    kind: Deployment
    metadata: {name: payments-api}
    spec:
      template:
        spec:
          containers:
            - name: api
              resources: {limits: {memory: 192Mi}}
"""
BASE = {
    "apps/api/base/kustomization.yaml": "resources: [deployment.yaml]",
    "apps/api/base/deployment.yaml": DEPLOYMENT,
}
PROD = "apps/api/overlays/prod/kustomization.yaml"
STAGING = "apps/api/overlays/staging/kustomization.yaml"
PROD_PATCH = "apps/api/overlays/prod/memory.yaml"


def files(*parts: dict[str, str]) -> dict[str, bytes]:
    return {path: dedent(text).encode() for part in parts for path, text in part.items()}


def memory(old="256Mi", new="512Mi", target=API) -> FieldChange:
    return FieldChange(object=target, path=MEMORY, old=old, new=new)


def image(new=f"{REGISTRY}:1.4.1", old=f"{REGISTRY}:1.4.0") -> FieldChange:
    return FieldChange(object=API, path=IMAGE, old=old, new=new)


def found(repository: dict[str, bytes], change: FieldChange) -> Located:
    result = locate(repository, change)
    assert isinstance(result, Located), result
    assert len(unified_diff(repository, apply(repository, [result.edit])).split("\n@@")) == 2
    return result


def refused(repository: dict[str, bytes], change: FieldChange) -> NotLocated:
    result = locate(repository, change)
    assert isinstance(result, NotLocated), result
    assert result.sentence
    return result


def namespaced(namespace: str) -> str:
    return DEPLOYMENT.replace("payments-api\n", f"payments-api\n      namespace: {namespace}\n")


def overlay(namespace: str, *more: str) -> str:
    return "\n".join((f"namespace: {namespace}", "resources: [../../base]", *more))


def test_a_plain_manifest_is_found_by_kind_namespace_and_name():
    repository = files({"a.yaml": namespaced("payments"), "b.yaml": namespaced("shop")})
    place = found(repository, memory())
    assert (place.file, place.document, place.path) == ("a.yaml", API, MEMORY)
    assert (place.old, place.new, place.agrees) == ("256Mi", "512Mi", True)
    assert any("'a.yaml' sets" in sentence for sentence in place.trace)


def test_the_right_document_of_several_is_found():
    several = f"kind: Service\nmetadata: {{name: payments-api}}\n---\n{dedent(DEPLOYMENT)}"
    assert found({"all.yaml": several.encode()}, memory()).document.kind == "Deployment"


def test_a_manifest_without_a_namespace_is_found_when_it_is_the_only_one():
    place = found(files({"a.yaml": DEPLOYMENT}), memory())
    assert place.document == ObjectRef(kind="Deployment", name="payments-api")


@pytest.mark.parametrize("other", [DEPLOYMENT, namespaced("shop")])
def test_a_manifest_without_a_namespace_is_no_match_when_another_could_be_meant(other):
    result = refused(files({"a.yaml": DEPLOYMENT, "b.yaml": other}), memory())
    assert result.reason is Reason.AMBIGUOUS
    assert "a.yaml" in result.sentence
    assert "b.yaml" in result.sentence


def test_two_manifests_of_one_object_are_a_tie_that_names_both():
    result = refused(files(dict.fromkeys(("a.yaml", "b.yaml"), namespaced("payments"))), memory())
    assert result.reason is Reason.AMBIGUOUS
    assert "a.yaml" in result.sentence
    assert "b.yaml" in result.sentence


def test_an_object_of_another_namespace_is_not_found():
    result = refused(files({"a.yaml": namespaced("shop")}), memory())
    assert result.reason is Reason.NOT_FOUND
    assert any("a.yaml" in sentence for sentence in result.trace)


def test_a_field_that_no_file_sets_is_not_found():
    change = FieldChange(object=API, path=("spec", "paused"), old=True, new=False)
    assert refused(files({"a.yaml": DEPLOYMENT}), change).reason is Reason.NOT_FOUND


def test_a_kustomization_gives_its_namespace_to_what_it_lists():
    repository = files(BASE, {PROD: overlay("payments")})
    assert found(repository, memory()).file == "apps/api/base/deployment.yaml"
    moved = files(BASE, {PROD: overlay("shop")})
    assert refused(moved, memory()).reason is Reason.NOT_FOUND


def test_a_kustomization_at_the_root_reaches_down():
    repository = files({"kustomization.yaml": "namespace: payments\nresources: [x/d.yaml]"})
    repository |= files({"x/d.yaml": DEPLOYMENT})
    assert found(repository, memory()).file == "x/d.yaml"


def test_a_patch_of_the_overlay_wins_over_its_base():
    repository = files(
        BASE,
        {PROD: overlay("payments", "patches: [{path: memory.yaml}]"), PROD_PATCH: PATCH},
        {STAGING: overlay("staging")},
    )
    place = found(repository, memory("192Mi"))
    assert (place.file, place.old) == (PROD_PATCH, "192Mi")
    assert any("wins over 'apps/api/base/deployment.yaml'" in said for said in place.trace)


@pytest.mark.parametrize(
    "how",
    [
        "patchesStrategicMerge: [memory.yaml]",
        "patches: [{path: memory.yaml, target: {kind: Deployment, name: pay.*}}]",
    ],
)
def test_older_and_selecting_ways_to_name_a_patch_are_understood(how):
    repository = files(BASE, {PROD: overlay("payments", how), PROD_PATCH: PATCH})
    assert found(repository, memory("192Mi")).file == PROD_PATCH


@pytest.mark.parametrize("target", ["name: other-api", "kind: StatefulSet", "namespace: shop"])
def test_a_patch_for_other_objects_does_not_count(target):
    how = f"patches: [{{path: memory.yaml, target: {{{target}}}}}]"
    repository = files(BASE, {PROD: overlay("payments", how), PROD_PATCH: PATCH})
    assert found(repository, memory()).file == "apps/api/base/deployment.yaml"


def test_the_last_patch_wins():
    how = "patches: [{path: memory.yaml}, {path: later.yaml}]"
    later = {"apps/api/overlays/prod/later.yaml": PATCH.replace("192", "128")}
    repository = files(BASE, {PROD: overlay("payments", how), PROD_PATCH: PATCH}, later)
    assert found(repository, memory("128Mi")).file == "apps/api/overlays/prod/later.yaml"


def test_a_component_is_a_layer_below_the_overlay():
    component = {"parts/kustomization.yaml": "kind: Component\npatches: [{path: memory.yaml}]"}
    repository = files(
        BASE, component, {"parts/memory.yaml": PATCH},
        {PROD: overlay("payments", "components: [../../../../parts]")},
    )  # fmt: skip
    assert found(repository, memory("192Mi")).file == "parts/memory.yaml"


def test_of_a_base_that_two_overlays_deploy_the_one_overlay_is_changed():
    repository = files(BASE, {PROD: overlay("payments"), STAGING: overlay("staging")})
    assert found(repository, memory()).file == PROD


def test_a_base_may_be_touched_when_every_other_overlay_sets_the_field_itself():
    staging = {
        STAGING: overlay("staging", "patches: [{path: memory.yaml}]"),
        "apps/api/overlays/staging/memory.yaml": PATCH,
    }
    repository = files(BASE, {PROD: overlay("payments")}, staging)
    assert found(repository, memory()).file == "apps/api/base/deployment.yaml"


def test_a_patch_that_also_reaches_another_object_is_not_touched():
    twin = {"apps/api/base/twin.yaml": DEPLOYMENT.replace("payments-api", "twin")}
    how = overlay("payments", "patches: [{path: memory.yaml, target: {kind: Deployment}}]")
    base = BASE | {"apps/api/base/kustomization.yaml": "resources: [deployment.yaml, twin.yaml]"}
    repository = files(base, twin, {PROD: how, PROD_PATCH: PATCH})
    assert refused(repository, memory("192Mi")).reason is Reason.SHARED


def test_two_overlays_of_one_namespace_are_a_tie():
    repository = files(BASE, {PROD: overlay("payments"), STAGING: overlay("payments")})
    result = refused(repository, memory())
    assert result.reason is Reason.AMBIGUOUS
    assert "overlays/prod" in result.sentence
    assert "overlays/staging" in result.sentence


def test_a_name_prefix_leads_back_to_the_name_in_the_file():
    repository = files(BASE, {PROD: overlay("payments", "namePrefix: eu-")})
    target = ObjectRef(kind="Deployment", namespace="payments", name="eu-payments-api")
    assert found(repository, memory(target=target)).document.name == "payments-api"
    assert refused(repository, memory()).reason is Reason.NOT_FOUND


def test_a_manifest_that_its_folder_does_not_list_deploys_nothing():
    old = {"apps/api/base/old.yaml": namespaced("payments")}
    repository = files(BASE, old, {PROD: overlay("payments")})
    assert found(repository, memory()).file == "apps/api/base/deployment.yaml"


def test_an_images_entry_owns_the_tag_and_gets_the_tag_alone():
    entry = f"images: [{{name: {REGISTRY}, newTag: 1.4.0}}]"
    repository = files(BASE, {PROD: overlay("payments", entry), STAGING: overlay("staging")})
    place = found(repository, image())
    assert place.document == ObjectRef(kind="Kustomization", name="")
    assert (place.file, place.path) == (PROD, ("images", f"[name={REGISTRY}]", "newTag"))
    assert (place.old, place.new, place.agrees) == ("1.4.0", "1.4.1", True)


def test_an_images_entry_that_renames_the_image_is_followed():
    entry = f"images: [{{name: api, newName: {REGISTRY}, newTag: 1.4.0}}]"
    base = BASE | {
        "apps/api/base/deployment.yaml": DEPLOYMENT.replace(f"{REGISTRY}:1.4.0", "api:dev")
    }
    place = found(files(base, {PROD: overlay("payments", entry)}), image())
    assert (place.file, place.old, place.new, place.agrees) == (PROD, "1.4.0", "1.4.1", True)


def test_an_entry_that_only_renames_leaves_the_tag_to_the_manifest():
    entry = f"images: [{{name: api, newName: {REGISTRY}}}]"
    base = BASE | {"apps/api/base/deployment.yaml": DEPLOYMENT.replace(REGISTRY, "api")}
    place = found(files(base, {PROD: overlay("payments", entry)}), image())
    assert (place.old, place.new, place.agrees) == ("api:1.4.0", "api:1.4.1", True)


def test_an_entry_that_pins_a_digest_gets_a_digest():
    one, two = (f"sha256:{digit * 64}" for digit in "12")
    entry = f"images: [{{name: {REGISTRY}, digest: '{one}'}}]"
    repository = files(BASE, {PROD: overlay("payments", entry)})
    place = found(repository, image(f"{REGISTRY}@{two}", f"{REGISTRY}@{one}"))
    assert (place.path[-1], place.old, place.new) == ("digest", one, two)
    assert refused(repository, image()).reason is Reason.UNEDITABLE


def test_an_entry_with_tag_and_digest_shows_both():
    one, two = (f"sha256:{digit * 64}" for digit in "12")
    entry = f"images: [{{name: {REGISTRY}, newTag: v1, digest: '{one}'}}]"
    repository = files(BASE, {PROD: overlay("payments", entry)})
    place = found(repository, image(f"{REGISTRY}:v1@{two}", f"{REGISTRY}:v1@{one}"))
    assert (place.path[-1], place.new, place.agrees) == ("digest", two, True)
    other_tag = image(f"{REGISTRY}:v2@{two}", f"{REGISTRY}:v1@{one}")
    assert refused(repository, other_tag).reason is Reason.UNEDITABLE


def test_a_tag_entry_cannot_take_a_digest():
    entry = f"images: [{{name: {REGISTRY}, newTag: 1.4.0}}]"
    repository = files(BASE, {PROD: overlay("payments", entry)})
    pinned = image(f"{REGISTRY}:1.4.1@sha256:{'1' * 64}")
    assert refused(repository, pinned).reason is Reason.UNEDITABLE


def test_a_tag_entry_cannot_take_another_image():
    entry = f"images: [{{name: {REGISTRY}, newTag: 1.4.0}}]"
    repository = files(BASE, {PROD: overlay("payments", entry)})
    assert refused(repository, image("evil.example/api:1")).reason is Reason.UNEDITABLE


def test_an_object_is_known_by_every_name_it_had_on_the_way():
    entry = "replicas: [{name: eu-payments-api, count: 3}]"
    more = ("namePrefix: eu-", "nameSuffix: -a")
    base = {"mid/kustomization.yaml": "\n".join(("resources: [../apps/api/base]", *more))}
    top = {"top/kustomization.yaml": f"namespace: payments\nresources: [../mid]\n{entry}"}
    target = ObjectRef(kind="Deployment", namespace="payments", name="eu-payments-api-a")
    change = FieldChange(object=target, path=REPLICAS, old=3, new=4)
    assert found(files(BASE, base, top), change).file == "top/kustomization.yaml"


def test_an_entry_for_another_image_does_not_count():
    entry = "images: [{name: other, newTag: 1.4.0}]"
    place = found(files(BASE, {PROD: overlay("payments", entry)}), image())
    assert place.file == "apps/api/base/deployment.yaml"


def test_a_replicas_entry_owns_the_count():
    entry = "replicas: [{name: payments-api, count: 3}]"
    change = FieldChange(object=API, path=REPLICAS, old=3, new=4)
    place = found(files(BASE, {PROD: overlay("payments", entry)}), change)
    assert (place.file, place.path) == (PROD, ("replicas", "[name=payments-api]", "count"))


@pytest.mark.parametrize(
    "patch",
    [
        "patch: '[{op: replace, path: /spec/template/spec/containers/0/image, value: x}]'",
        "path: ops.yaml",
        "patch: '{kind: Deployment, metadata: {name: payments-api}, spec: {template: {spec: "
        "{containers: [{name: api, image: x}]}}}}'",
        "{path: memory.yaml, target: {labelSelector: app=api}}",
    ],
)
def test_a_patch_that_cannot_be_edited_is_named_instead_of_losing_to_it(patch):
    patch = patch if patch.startswith("{") else f"{{{patch}, target: {{kind: Deployment}}}}"
    more = {
        "apps/api/overlays/prod/ops.yaml": "- {op: add, path: /spec/template, value: {}}",
        PROD_PATCH: PATCH.replace("resources: {limits: {memory: 192Mi}}", "image: x"),
    }
    repository = files(BASE, more, {PROD: overlay("payments", f"patches: [{patch}]")})
    assert refused(repository, image()).reason is Reason.UNEDITABLE


@pytest.mark.parametrize("word", ["(a+)+b", "(p|a)*api", ".*a.*a.*a", "p{1,9}{1,9}.*.*"])
def test_an_expression_that_might_take_for_ever_is_not_tried_and_may_be_for_anything(word):
    how = f"patches: [{{path: memory.yaml, target: {{kind: Deployment, name: '{word}'}}}}]"
    long = {"other/d.yaml": dedent(DEPLOYMENT).replace("payments-api", "a" * 40)}
    more = {"apps/api/overlays/prod/kustomization.yaml": overlay("payments", how)}
    repository = files(BASE, more, long, {PROD_PATCH: PATCH})
    assert refused(repository, memory("192Mi")).reason is Reason.UNEDITABLE


def test_a_patch_for_several_kinds_is_not_touched():
    how = "patches: [{path: memory.yaml, target: {name: payments-api}}]"
    repository = files(BASE, {PROD: overlay("payments", how), PROD_PATCH: PATCH})
    assert refused(repository, memory("192Mi")).reason is Reason.UNEDITABLE


@pytest.mark.parametrize(
    "section",
    ["replacements: [x]", "transformers: [x]", "vars: [x]", "images: [{name: x, tagSuffix: -a}]"],
)
def test_what_is_not_followed_stops_the_search(section):
    result = refused(files(BASE, {PROD: overlay("payments", section)}), image())
    assert result.reason is Reason.UNEDITABLE
    assert "not followed" in result.sentence


SERVICE = "kind: Service\nmetadata: {name: api, namespace: payments}\nspec: {selector: {app: api}}"


@pytest.mark.parametrize(
    ("labels", "reaches"),
    [
        ("commonLabels: {app: api}", True),
        ("labels: [{pairs: {app: api}, includeSelectors: true}]", True),
        ("labels: [{pairs: {app: api}}]", False),
        ("commonLabels: {team: x}", False),
    ],
)
def test_labels_that_a_kustomization_gives_to_everything_are_not_touched(labels, reaches):
    repository = files(
        {"base/kustomization.yaml": f"resources: [s.yaml]\n{labels}", "base/s.yaml": SERVICE}
    )
    service = ObjectRef(kind="Service", namespace="payments", name="api")
    change = FieldChange(object=service, path=("spec", "selector", "app"), old="api", new="web")
    result = locate(repository, change)
    assert isinstance(result, NotLocated) is reaches


def test_json_operations_on_other_fields_do_not_matter():
    patch = "[{op: add, path: /spec/template/spec/containers/-, value: x}, "
    patch += "{op: replace, path: /spec/replicas, value: 2}, {op: test, path: /spec, value: 1}]"
    how = f"patchesJson6902: [{{patch: '{patch}', target: {{name: payments-api}}}}]"
    assert found(files(BASE, {PROD: overlay("payments", how)}), image())


@pytest.mark.parametrize("broken", [None, "a: [", "kind: Deployment\n\tmetadata: x"])
def test_a_patch_that_cannot_be_read_stops_the_search(broken):
    more = {PROD_PATCH: broken} if broken else {}
    how = overlay("payments", "patches: [{path: memory.yaml}]")
    result = refused(files(BASE, more, {PROD: how}), memory())
    assert result.reason is Reason.UNPARSEABLE
    assert PROD_PATCH in result.sentence


def test_a_template_that_mentions_the_name_is_named_with_what_is_wrong_in_it():
    chart = "{{- if .Values.on }}\nkind: Deployment\nmetadata: {name: payments-api}\n{{- end }}"
    result = refused(files({"chart/templates/api.yaml": chart}), memory())
    assert result.reason is Reason.UNPARSEABLE
    assert "chart/templates/api.yaml" in result.sentence
    assert "not plain YAML" in result.sentence


def test_an_unreadable_file_about_something_else_does_not_matter():
    other = {"chart/x.yaml": "{{- if x }}\nkind: Deployment\nmetadata: {name: other}"}
    assert found(files({"a.yaml": DEPLOYMENT}, other), memory())


@pytest.mark.parametrize("broken", ["resources: [../../base", "resources: [../../base]\n\tx: y"])
def test_an_unreadable_overlay_of_the_same_base_stops_the_search(broken):
    repository = files(BASE, {PROD: overlay("payments"), STAGING: broken})
    assert refused(repository, memory()).reason is Reason.UNPARSEABLE


def test_a_file_that_moved_on_is_located_but_said_to_disagree():
    place = found(files({"a.yaml": DEPLOYMENT}), memory(old="128Mi"))
    assert (place.old, place.agrees) == ("256Mi", False)


@pytest.mark.parametrize("new", ["256Mi", "0.25Gi"])
def test_a_file_that_holds_the_new_value_already_is_located_as_done(new):
    place = locate(files({"a.yaml": DEPLOYMENT}), memory(old="128Mi", new=new))
    assert isinstance(place, Located)
    assert (place.old, place.done) == ("256Mi", True)


def test_quantities_agree_by_amount_and_are_replaced_as_written():
    path = (*MEMORY[:-1], "cpu")
    change = FieldChange(object=API, path=path, old="1000m", new="2")
    place = found(files({"a.yaml": DEPLOYMENT}), change)
    assert (place.old, place.new, place.agrees) == (1, "2", True)


def test_a_value_behind_an_anchor_is_found_but_not_editable():
    text = dedent(DEPLOYMENT).replace("256Mi", "&m 256Mi").replace("cpu: 1", "cpu: *m")
    result = refused({"a.yaml": text.encode()}, memory())
    assert result.reason is Reason.UNEDITABLE
    assert "&m" in result.sentence


def test_kustomizations_that_list_each_other_end():
    ring = {
        "a/kustomization.yaml": "resources: [../b]",
        "b/kustomization.yaml": "resources: [../a]",
    }
    top = {"kustomization.yaml": "resources: [a, https://example.org/x, d.yaml]"}
    repository = files(ring, top, {"d.yaml": DEPLOYMENT})
    place = found(repository, memory())
    assert place.file == "d.yaml"
    assert any("https://example.org/x" in sentence for sentence in place.trace)


def test_layers_that_double_each_other_are_refused_instead_of_gone_through(monkeypatch):
    monkeypatch.setattr(placements, "MOST_STEPS", 2000)
    layers = {"l0/kustomization.yaml": "resources: [d.yaml]", "l0/d.yaml": DEPLOYMENT}
    for n, way in ((n, way) for n in range(1, 40) for way in "ab"):
        below = "../l0" if n == 1 else f"../l{n - 1}a, ../l{n - 1}b"
        layers[f"l{n}{way}/kustomization.yaml"] = f"namePrefix: {way}-\nresources: [{below}]"
    result = refused(files(layers), memory())
    assert result.reason is Reason.NOT_FOUND
    assert "in more ways than can be followed" in result.sentence
