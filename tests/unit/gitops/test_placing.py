"""From one place of a repository: what is deployed there, and what else shares a line with it."""

import pytest

from tocsin_contracts import FieldChange, ObjectRef, Place, SourceKind
from tocsin_gitops.locate import Located, NotLocated, Reason, locate

OBJECT = ObjectRef(kind="Deployment", namespace="shop", name="api")
PATH = ("spec", "replicas")
CHANGE = FieldChange(object=OBJECT, path=PATH, old=1, new=2)
API = "kind: Deployment\nmetadata: {name: api, namespace: shop}\nspec: {replicas: 1}\n"
BASE = API.replace(", namespace: shop", "")
OVERLAY = "namespace: shop\nresources: [../base]\n"


def place(path, kind=SourceKind.KUSTOMIZE, **fields):
    said = {"host": "local", "repo": "shop/gitops", "revision": "main", "by": "a test"}
    return Place(**said, path=path, kind=kind, **fields)


def found(contents, where):
    return locate({path: text.encode() for path, text in contents.items()}, CHANGE, where)


TWO = {"a/api.yaml": API, "b/api.yaml": API}


@pytest.mark.parametrize("kind", [SourceKind.DIRECTORY, None])
def test_what_is_ambiguous_in_the_repository_is_not_in_one_place_of_it(kind):
    assert found(TWO, None).reason is Reason.AMBIGUOUS
    assert found(TWO, place("b", kind)).file == "b/api.yaml"


def test_nothing_outside_of_the_place_is_found():
    answer = found(TWO, place("c", SourceKind.DIRECTORY))
    assert isinstance(answer, NotLocated)
    assert answer.reason is Reason.NOT_FOUND


def test_a_folder_whose_name_only_begins_alike_is_another():
    contents = {"app/api.yaml": API, "app-old/api.yaml": API}
    assert found(contents, place("app", SourceKind.DIRECTORY)).file == "app/api.yaml"


def test_the_root_is_a_place_too():
    assert found({"api.yaml": API}, place(".", SourceKind.DIRECTORY)).file == "api.yaml"
    layered = {"kustomization.yaml": "resources: [api.yaml]\n", "api.yaml": API}
    assert found(layered, place(".")).file == "api.yaml"


def test_a_kustomization_reaches_what_lies_beside_it():
    contents = {
        "base/kustomization.yaml": "resources: [api.yaml]\n",
        "base/api.yaml": BASE,
        "prod/kustomization.yaml": OVERLAY,
    }
    assert isinstance(found(contents, place("prod")), Located)


def test_a_shared_base_is_not_edited_even_if_only_one_place_is_asked_about():
    contents = {
        "base/kustomization.yaml": "resources: [api.yaml]\n",
        "base/api.yaml": BASE,
        "prod/kustomization.yaml": OVERLAY,
        "dev/kustomization.yaml": "namespace: dev\nresources: [../base]\n",
    }
    assert found(contents, place("prod")).file == "prod/kustomization.yaml"


def test_an_overlay_that_another_kustomization_wraps_is_shared_with_it():
    contents = {
        "base/kustomization.yaml": "resources: [api.yaml]\n",
        "base/api.yaml": BASE,
        "prod/kustomization.yaml": OVERLAY,
        "all/kustomization.yaml": "resources: [../prod]\n",
    }
    assert found(contents, place("prod")).reason is Reason.SHARED
    assert isinstance(found(contents, place("all")), Located)


def test_a_plain_file_that_a_kustomization_deploys_elsewhere_is_shared():
    contents = {
        "plain/api.yaml": API,
        "layered/kustomization.yaml": "resources: [../plain/api.yaml]\n",
    }
    assert found(contents, place("plain", SourceKind.DIRECTORY)).reason is Reason.SHARED


def test_a_folder_without_a_kustomization_builds_those_below():
    contents = {
        "apps/api/kustomization.yaml": "namespace: shop\nresources: [api.yaml]\n",
        "apps/api/api.yaml": BASE,
    }
    where = place("apps", SourceKind.DIRECTORY)
    assert found(contents, where).file == "apps/api/api.yaml"
    flat = where.model_copy(update={"recurse": False})
    assert found(contents, flat).reason is Reason.NOT_FOUND


@pytest.mark.parametrize("glob", ["{a,b}" * 40, "{" + "," * 200 + "}"])
def test_a_glob_of_endless_alternatives_is_refused(glob):
    answer = found(TWO, place("a", SourceKind.DIRECTORY, exclude=glob))
    assert answer.reason is Reason.NOT_FOUND
    assert "alternatives" in answer.sentence
