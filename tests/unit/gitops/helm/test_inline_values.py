"""What a controller's object sets itself is changed in that object, if the repository has it."""

from pathlib import Path

import pytest

from tocsin_contracts import ChangeOp, FieldChange, ObjectRef, Place, SourceKind
from tocsin_gitops import locate
from tocsin_gitops.editing import apply
from tocsin_gitops.located import NotLocated

CHARTS = Path(__file__).parent / "charts"
RELEASE = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  releaseName: pay
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: shop}}}
  values:
    replicaCount: 3 # by hand
"""
APPLICATION = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source:
    path: charts/web
    helm:
      releaseName: pay
      valuesObject:
        replicaCount: 3
      parameters:
        - name: image.tag
          value: "1.20"
"""
LOCKED = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec: {source: {path: charts/web, helm: {values: "replicaCount: 3"}}}
"""


def files(**more):
    chart = {
        f"charts/{path.relative_to(CHARTS)}": path.read_bytes()
        for path in (CHARTS / "web").rglob("*")
        if path.is_file()
    }
    return chart | {f"{name}.yaml": text.encode() for name, text in more.items()}


def place(by, *overrides, **more):
    where = {"host": "local", "repo": "shop/gitops", "revision": "main", "release": "pay"}
    kind = SourceKind.HELM
    return Place(**where, by=by, path="charts/web", kind=kind, overrides=overrides, **more)


def change(path, old, new):
    ref = ObjectRef(kind="Deployment", namespace="shop", name="pay-web")
    return FieldChange(object=ref, path=path, old=old, new=new)


REPLICAS = change(("spec", "replicas"), 3, 5)
IMAGE = change(
    ("spec", "template", "spec", "containers", "[name=web]", "image"),
    *("ghcr.io/shop/web:1.20", "ghcr.io/shop/web:1.21"),
)


def changed(held, wanted, where):
    found = locate.locate(held, wanted, where)
    assert not isinstance(found, NotLocated), found.sentence
    return found, apply(held, (found.edit,))[found.file].decode()


def test_a_value_of_a_helm_release_is_changed_in_it():
    where = place("HelmRelease shop/web", "value replicaCount")
    found, text = changed(files(web=RELEASE), REPLICAS, where)
    assert (found.document.kind, found.path) == ("HelmRelease", ("spec", "values", "replicaCount"))
    assert text == RELEASE.replace("Count: 3", "Count: 5")


def test_a_value_of_an_application_is_changed_in_it():
    where = place("Application argocd/web", "value image.tag", "value replicaCount")
    _, text = changed(files(web=APPLICATION), REPLICAS, where)
    assert text == APPLICATION.replace("Count: 3", "Count: 5")


def test_a_parameter_of_an_application_is_changed_as_text():
    where = place("Application argocd/web", "value image.tag", "value replicaCount")
    found, text = changed(files(web=APPLICATION), IMAGE, where)
    assert found.op is ChangeOp.SET
    assert text == APPLICATION.replace('"1.20"', '"1.21"')


@pytest.mark.parametrize("held", [{}, {"web": LOCKED}, {"web": RELEASE, "again": RELEASE}])
def test_what_the_object_sets_out_of_reach_is_refused(held):
    by = "HelmRelease shop/web" if "again" in held else "Application argocd/web"
    found = locate.locate(files(**held), REPLICAS, place(by, "value replicaCount"))
    assert isinstance(found, NotLocated)


def test_values_from_a_secret_hide_everything():
    where = place("HelmRelease shop/web", "value * of Secret web-values")
    found = locate.locate(files(web=RELEASE), REPLICAS, where)
    assert isinstance(found, NotLocated)
    assert "nobody can look" in found.sentence


def test_value_files_of_a_helm_release_take_the_place_of_those_of_the_chart():
    own = files(**{"envs/prod": "replicaCount: 3\nservice: {port: 80, type: ClusterIP}\n"})
    where = place("HelmRelease shop/web", value_files=("envs/prod.yaml",))
    found = locate.locate(own, REPLICAS, where)
    assert isinstance(found, NotLocated), "without the chart's own values nothing has an image"
    usual = place("Application argocd/web", value_files=("envs/prod.yaml",))
    assert changed(own, REPLICAS, usual)[0].file == "envs/prod.yaml"
