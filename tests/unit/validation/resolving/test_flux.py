"""Flux says where an object comes from: by its inventory, and never by labels alone."""

import pytest

from tocsin_contracts import SourceKind
from tocsin_validation.resolving import Resolved, Unresolved

REPO = "shop/platform-gitops"
URL = "ssh://git@github.com/shop/platform-gitops"
FILE = "apps/payments/deployment.yaml"
ENTRY = "payments_payments-api_apps_Deployment"
LABELS = {
    "helm.toolkit.fluxcd.io/name": "payments",
    "helm.toolkit.fluxcd.io/namespace": "flux-system",
}
APPLIED = {
    "kustomize.toolkit.fluxcd.io/name": "payments",
    "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
}


@pytest.fixture
def desk(desk):
    """Let the object bear the marks of Flux unless a test says otherwise."""
    shows = desk.shows
    desk.shows = lambda *objects, **about: shows(*objects, **{"labels": APPLIED, **about})
    return desk


def made(kind, group, name, spec, status=None):
    return {
        "apiVersion": f"{group}.toolkit.fluxcd.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "flux-system", "uid": f"{kind}-{name}"},
        "spec": {"interval": "10m0s", **spec},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], **(status or {})},
    }


def inventory(*ids):
    return {"inventory": {"entries": [{"id": one, "v": "v1"} for one in ids]}}


def kustomization(name="payments", path="./apps/payments", ids=(ENTRY,), of=None, **spec):
    source = of or {"kind": "GitRepository", "name": "platform"}
    spec = {"path": path, "prune": True, "sourceRef": source, **spec}
    revision = {"lastAppliedRevision": "main@sha1:" + "4" * 40}
    return made("Kustomization", "kustomize", name, spec, {**revision, **inventory(*ids)})


def git(ref=None, url=URL, name="platform"):
    spec = {"url": url, **({} if ref is None else {"ref": ref})}
    return made("GitRepository", "source", name, spec)


def oci(**told):
    artifact = {"artifact": {"digest": "sha256:1", "metadata": told}}
    return made("OCIRepository", "source", "platform", {"url": "oci://ghcr.io/shop/m"}, artifact)


def release(chart=None, **spec):
    of = {"kind": "GitRepository", "name": "platform"}
    inner = {"chart": "./charts/payments", "sourceRef": of, **(chart or {})}
    history = [{"name": "payments", "namespace": "payments", "version": 3}]
    spec = {"chart": {"spec": inner}, **spec}
    return made("HelmRelease", "helm", "payments", spec, {"history": history})


async def found(desk, **asked) -> Resolved:
    answer = await desk.resolve(**asked)
    assert isinstance(answer, Resolved), answer
    return answer


async def refused(desk, **asked) -> str:
    answer = await desk.resolve(**asked)
    assert isinstance(answer, Unresolved), answer
    return answer.sentence


MAIN = {"branch": "main"}


async def test_the_kustomization_whose_inventory_has_it_names_its_place(desk):
    desk.repository(files={FILE: desk.deployment, "old/payments.yaml": desk.deployment})
    desk.shows(kustomization(), git(MAIN))
    answer = await found(desk)
    assert answer.target.file == FILE
    place = answer.target.place
    assert (place.path, place.kind) == ("apps/payments", SourceKind.DIRECTORY)
    assert "Flux: Kustomization flux-system/payments deploys" in "\n".join(answer.target.trace)


@pytest.mark.parametrize(
    "entry",
    [
        "payments_payments-api_apps_StatefulSet",
        "staging_payments-api_apps_Deployment",
        "payments_payments-api-v2_apps_Deployment",
        "payments_payments-api_example.com_Deployment",
        "payments_payments-api__x_apps_Deployment",
        "payments_payments-api_Deployment",
        "",
    ],
)
async def test_an_entry_of_another_object_is_none_of_this_one(desk, entry):
    desk.repository()
    desk.shows(kustomization(path="elsewhere", ids=(entry,)), git(MAIN))
    assert (await found(desk)).target.place is None


async def test_labels_alone_prove_nothing(desk):
    desk.repository()
    copied = {
        "kustomize.toolkit.fluxcd.io/name": "other",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    }
    desk.shows(kustomization("other", "elsewhere", ids=()), git(MAIN), labels=copied)
    answer = await found(desk)
    assert answer.target.place is None
    assert "its labels name Kustomization flux-system/other" in "\n".join(answer.target.trace)


async def test_two_inventories_that_have_it_are_a_tie(desk):
    desk.repository()
    desk.shows(kustomization(), kustomization("again"), git(MAIN), denied=["Deployment"])
    assert "is deployed by each of: Kustomization flux-system/payments" in await refused(desk)


async def test_an_inventory_that_the_object_denies_is_somebodys_claim(desk):
    desk.repository()
    desk.repository("shop/evil", {FILE: desk.deployment})
    evil = kustomization("evil", of={"kind": "GitRepository", "name": "evil"}, suspend=True)
    theirs = git(MAIN, url="https://github.com/shop/evil", name="evil")
    for one in (evil, theirs):
        one["metadata"]["namespace"] = "tenant"
    desk.shows(kustomization(), git(MAIN), evil, theirs)
    assert (await found(desk)).target.repo == REPO
    desk.shows(evil, theirs, labels={})
    assert "may come from any of" in await refused(desk)


async def test_a_kustomization_for_another_cluster_says_nothing(desk):
    desk.repository()
    away = kustomization(path="elsewhere", kubeConfig={"secretRef": {"name": "east"}})
    desk.shows(away, git(MAIN))
    assert (await found(desk)).target.place is None


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ({"branch": "main", "commit": "4" * 40}, "pinned to the commit"),
        ({"branch": "main", "tag": "v1.2.3"}, "pinned to the tag 'v1.2.3'"),
        ({"tag": "main"}, "pinned to the tag 'main'"),
        ({"branch": "main", "semver": ">=1.0.0"}, "the newest tag within '>=1.0.0'"),
        ({"branch": "release"}, "the branch 'release'"),
        ({"branch": "main", "name": "refs/tags/main"}, "pinned to the tag 'refs/tags/main'"),
        ({"name": "refs/pull/3/head"}, "the ref 'refs/pull/3/head'"),
        (None, "the branch 'master'"),
    ],
)
async def test_of_what_is_followed_the_strongest_word_counts(desk, ref, why):
    desk.repository()
    desk.shows(kustomization(), git(ref))
    assert why in await refused(desk)


async def test_a_branch_may_be_named_as_a_ref(desk):
    desk.repository()
    desk.shows(kustomization(), git({"branch": "old", "name": "refs/heads/main"}))
    assert (await found(desk)).target.file == FILE


async def test_a_source_may_lie_in_another_namespace(desk):
    desk.repository()
    source = git(MAIN)
    source["metadata"]["namespace"] = "sources"
    of = {"kind": "GitRepository", "name": "platform", "namespace": "sources"}
    desk.shows(kustomization(of=of), source)
    assert (await found(desk)).target.place.path == "apps/payments"


async def test_folders_with_a_kustomization_of_their_own_are_built_as_flux_does(desk):
    desk.repository(
        files={
            "apps/payments/kustomization.yaml": "namespace: payments\nresources: [api.yaml]\n",
            "apps/payments/api.yaml": desk.deployment,
            "apps/note.yaml": "kind: ConfigMap\nmetadata: {name: x}\n",
        }
    )
    desk.shows(kustomization(path="apps"), git(MAIN))
    answer = await found(desk)
    assert answer.target.file == "apps/payments/api.yaml"
    assert answer.target.place.kind is SourceKind.DIRECTORY


async def test_what_the_kustomization_sets_itself_is_not_changed_in_vain(desk):
    desk.repository()
    patches = [{"target": {"kind": "Deployment", "name": "payments-api"}, "patch": "x"}]
    desk.shows(kustomization(patches=patches), git(MAIN))
    assert "which wins over the files" in (await found(desk)).edits[0].new


async def test_others_of_the_same_folder_are_named(desk):
    desk.repository()
    other = kustomization("east", "apps/payments/", ids=())
    desk.shows(kustomization(), other, git(MAIN))
    place = (await found(desk)).target.place
    assert place.shared_with == ("Kustomization flux-system/east",)


OF_OCI = {"kind": "OCIRepository", "name": "platform"}
SOURCE = "org.opencontainers.image.source"
REVISION = "org.opencontainers.image.revision"


async def test_an_artifact_tells_the_repository_it_was_made_of_but_not_where_in_it(desk):
    desk.repository()
    desk.repository("shop/other", {"a.yaml": desk.deployment})
    told = {SOURCE: "https://github.com/shop/platform-gitops", REVISION: "main@sha1:" + "4" * 40}
    desk.shows(kustomization(of=OF_OCI), oci(**told))
    answer = await found(desk)
    assert (answer.target.repo, answer.target.place.path) == (REPO, "")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "does not say which repository it was made of"),
        ({SOURCE: URL}, "does not say which branch it was made of"),
        ({SOURCE: URL, REVISION: "v1.0.0@sha1:4444444"}, "pinned to the tag 'v1.0.0'"),
        ({SOURCE: URL, REVISION: "sha1:" + "4" * 40}, "pinned to the commit"),
        ({SOURCE: URL, REVISION: "release"}, "pinned to the tag 'release'"),
        ({SOURCE: "https://github.com/a/b", REVISION: "main@sha1:4"}, "is not allowed"),
    ],
)
async def test_an_artifact_that_follows_no_branch_cannot_be_changed(desk, told, why):
    desk.repository()
    desk.shows(kustomization(of=OF_OCI), oci(**told))
    assert why in await refused(desk)


async def test_a_bucket_is_no_repository(desk):
    desk.repository()
    bucket = made("Bucket", "source", "platform", {"bucketName": "x"})
    desk.shows(kustomization(of={"kind": "Bucket", "name": "platform"}), bucket)
    assert "which is no repository of git" in await refused(desk)


async def test_a_source_that_is_gone_is_no_answer(desk):
    desk.repository()
    desk.shows(kustomization(path="elsewhere"))
    answer = await found(desk)
    assert answer.target.place is None
    told = "\n".join(answer.target.trace)
    assert "its source GitRepository flux-system/platform is not there" in told


def chart_files():
    return {
        "charts/payments/Chart.yaml": "apiVersion: v2\nname: payments\n",
        "charts/payments/values.yaml": "a: 1\n",
        "charts/payments/values-prod.yaml": "a: 2\n",
    }


async def test_a_release_names_its_chart_and_its_value_files(desk):
    desk.repository(files=chart_files())
    files = ["./charts/payments/values.yaml", "./charts/payments/values-prod.yaml"]
    inline = {"image": {"tag": "1.4.2"}, "replicas": 2}
    desk.shows(
        release({"valuesFiles": files}, values=inline, targetNamespace="payments"),
        git(MAIN),
        labels=LABELS,
        annotations={"meta.helm.sh/release-name": "payments"},
    )
    place = (await found(desk)).target.place
    assert (place.kind, place.path) == (SourceKind.HELM, "charts/payments")
    assert place.value_files == ("charts/payments/values.yaml", "charts/payments/values-prod.yaml")
    assert place.release == "payments-payments"
    assert place.overrides == ("value image.tag", "value replicas")
    assert place.by == "HelmRelease flux-system/payments"


async def test_a_release_that_helm_knows_by_another_name_did_not_make_it(desk):
    desk.repository()
    annotations = {"meta.helm.sh/release-name": "somebody-elses"}
    desk.shows(release(), git(MAIN), labels=LABELS, annotations=annotations)
    assert (await found(desk)).target.place is None


async def test_a_release_with_an_inventory_has_to_have_it_there(desk):
    desk.repository()
    kept = release()
    kept["status"] |= inventory("payments_other_apps_Deployment")
    desk.shows(kept, git(MAIN), labels=LABELS)
    assert (await found(desk)).target.place is None
    kept["status"] |= inventory(ENTRY)
    desk.repositories.commit(REPO, chart_files())
    desk.shows(kept, git(MAIN), labels=LABELS)
    assert (await found(desk)).target.place.by == "HelmRelease flux-system/payments"


async def test_a_chart_of_a_helm_repository_is_in_no_repository_of_git(desk):
    desk.repository()
    of = {"kind": "HelmRepository", "name": "charts"}
    desk.shows(release({"chart": "payments", "sourceRef": of}), labels=LABELS)
    sentence = await refused(desk)
    assert "the chart payments of HelmRepository flux-system/charts: no repository" in sentence


async def test_a_helm_chart_that_is_named_leads_to_its_source(desk):
    desk.repository(files=chart_files())
    one = release()
    one["spec"] = {"chartRef": {"kind": "HelmChart", "name": "payments"}}
    of = {"kind": "GitRepository", "name": "platform"}
    chart = made("HelmChart", "source", "payments", {"chart": "charts/payments", "sourceRef": of})
    desk.shows(one, chart, git(MAIN), labels=LABELS)
    assert (await found(desk)).target.place.path == "charts/payments"


async def test_one_kind_that_cannot_be_seen_does_not_hide_the_other(desk):
    desk.repository()
    desk.shows(kustomization(), git(MAIN), denied=["HelmRelease", "Application"])
    answer = await found(desk)
    assert answer.target.place.by == "Kustomization flux-system/payments"
    assert "Flux: no HelmRelease was seen" in "\n".join(answer.target.trace)


async def test_a_cluster_without_flux_is_not_spoken_of(desk):
    desk.repository()
    assert "Flux" not in "\n".join((await found(desk)).target.trace)


async def test_what_cannot_be_seen_at_all_is_one_step(desk):
    desk.repository()
    desk.clusters.views.clear()
    told = [line for line in (await found(desk)).target.trace if line.startswith("Flux")]
    assert told == [
        "Flux: no Kustomization and no HelmRelease was seen; the cluster 'prod' is not connected"
    ]


async def test_a_kustomization_file_is_not_an_object_of_flux(desk):
    desk.repository()
    file = {**kustomization(path="elsewhere"), "apiVersion": "kustomize.config.k8s.io/v1beta1"}
    desk.shows(file, git(MAIN))
    assert (await found(desk)).target.place is None


async def test_argo_cd_is_asked_before_flux(desk):
    desk.repository()
    app = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "payments", "namespace": "argocd"},
        "spec": {
            "destination": {"name": "in-cluster"},
            "source": {"repoURL": URL, "path": "apps/payments", "targetRevision": "main"},
        },
        "status": {
            "resources": [
                {
                    "group": "apps",
                    "kind": "Deployment",
                    "namespace": "payments",
                    "name": "payments-api",
                }
            ]
        },
    }
    desk.shows(app, kustomization(path="elsewhere"), git(MAIN))
    assert (await found(desk)).target.place.by == "Application argocd/payments"
