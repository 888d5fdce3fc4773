"""Argo CD says where an object comes from: only the Application that lists it, for its cluster."""

import pytest

from tocsin_contracts import SourceKind
from tocsin_validation.resolving import Resolved, Unresolved

REPO = "shop/platform-gitops"
URL = "https://github.com/shop/platform-gitops.git"
FILE = "apps/payments/deployment.yaml"
IN_CLUSTER = "https://kubernetes.default.svc"
BASE = "namespace: payments\nresources: [../base]\n"
PLAIN = "namespace: payments\nresources: [deployment.yaml]\n"


def listed(kind="Deployment", name="payments-api", namespace="payments", group="apps", **more):
    return {
        "group": group,
        "version": "v1",
        "kind": kind,
        "namespace": namespace,
        "name": name,
        "status": "Synced",
        "health": {"status": "Healthy"},
        **more,
    }


def source(path="apps/payments", revision="main", url=URL, **more):
    return {"repoURL": url, "path": path, "targetRevision": revision, **more}


def app(name="payments", *, one=None, several=None, resources=None, **given):
    """An Application as the API shows it."""
    spec = {
        "project": "default",
        "destination": given.pop("destination", {"server": IN_CLUSTER, "namespace": "payments"}),
        "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
    }
    status = {
        "sync": {"status": "Synced", "revision": "4" * 40},
        "health": {"status": "Healthy"},
        "resources": [listed()] if resources is None else resources,
        "reconciledAt": "2026-03-02T09:58:00Z",
        "summary": {"images": ["ghcr.io/shop/payments:1.4.2"]},
    }
    if several is not None:
        spec["sources"] = several
        status["sourceTypes"] = given.pop("types", ["Directory"] * len(several))
    else:
        spec["source"] = one or source()
        status["sourceType"] = given.pop("type", "Directory")
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", "uid": name, **given},
        "spec": spec,
        "status": status,
    }


def chart(name="charts/payments"):
    return {
        f"{name}/Chart.yaml": "apiVersion: v2\nname: payments\nversion: 1.0.0\n",
        f"{name}/values.yaml": "replicas: 1\n",
        f"{name}/templates/deployment.yaml": "kind: Deployment\nmetadata: {name: {{ .x }}}\n",
    }


async def found(desk, **asked) -> Resolved:
    answer = await desk.resolve(**asked)
    assert isinstance(answer, Resolved), answer
    return answer


async def refused(desk, **asked) -> str:
    answer = await desk.resolve(**asked)
    assert isinstance(answer, Unresolved), answer
    return answer.sentence


async def test_the_application_that_lists_the_object_names_its_place(desk):
    desk.repository()
    desk.repository("shop/copy", {"apps/payments/deployment.yaml": desk.deployment})
    desk.shows(app())
    answer = await found(desk)
    assert (answer.target.repo, answer.target.file) == (REPO, FILE)
    place = answer.target.place
    assert (place.path, place.kind, place.by) == (
        "apps/payments",
        SourceKind.DIRECTORY,
        "Application argocd/payments",
    )
    told = "\n".join(answer.target.trace)
    assert "Argo CD: Application argocd/payments lists Deployment payments/payments-api" in told


async def test_only_files_of_the_source_are_looked_at(desk):
    desk.repository(
        files={
            "apps/payments/deployment.yaml": desk.deployment,
            "old/payments.yaml": desk.deployment,
        }
    )
    desk.shows(app())
    assert (await found(desk)).target.file == FILE


async def test_another_cluster_that_runs_the_same_is_not_this_one(desk):
    desk.repository()
    desk.repository("shop/staging", {"x/deployment.yaml": desk.deployment}, cluster="staging")
    far = {"server": "https://staging.example:6443", "namespace": "payments"}
    desk.names("prod", "https://prod.example:6443")
    there = app("staging", one=source("x", url="https://github.com/shop/staging"), destination=far)
    desk.shows(app(), there)
    assert (await found(desk)).target.place.by == "Application argocd/payments"


async def test_an_application_for_another_cluster_alone_says_nothing(desk):
    desk.repository()
    desk.names("prod", "https://prod.example:6443")
    desk.shows(app(one=source("elsewhere"), destination={"server": "https://far.example:6443"}))
    answer = await found(desk)
    assert answer.target.place is None
    assert "deploys to another cluster" in "\n".join(answer.target.trace)


async def test_a_destination_that_cannot_be_told_is_no_answer_and_says_what_would_help(desk):
    desk.repository()
    desk.shows(app(one=source("elsewhere"), destination={"server": "https://far.example:6443"}))
    answer = await found(desk)
    assert answer.target.place is None
    assert "name the cluster's server in gitops.yaml" in "\n".join(answer.target.trace)


@pytest.mark.parametrize(
    "destination",
    [{"name": "prod"}, {"server": "https://prod.example:6443/"}],
    ids=["name", "server"],
)
async def test_one_argo_deploys_to_many_clusters(desk, destination):
    desk.repository()
    desk.names("prod", "https://prod.example:6443", argo="hub")
    hub = app("hub-itself", one=source("apps/hub"))
    desk.shows(app(destination=destination), hub, cluster="hub")
    desk.shows()
    assert (await found(desk)).target.place.by == "Application argocd/payments"


async def test_the_same_namespace_proves_nothing(desk):
    desk.repository()
    desk.shows(app(one=source("elsewhere"), resources=[listed(name="other")]))
    answer = await found(desk)
    assert answer.target.place is None
    assert "deploys to its namespace, which proves nothing" in "\n".join(answer.target.trace)


@pytest.mark.parametrize(
    "other",
    [
        listed(group="extensions.example.com"),
        listed(kind="StatefulSet"),
        listed(namespace="staging"),
        listed(name="payments-api-v2"),
        listed(requiresPruning=True),
    ],
    ids=["group", "kind", "namespace", "name", "to-be-pruned"],
)
async def test_what_only_resembles_the_object_is_not_it(desk, other):
    desk.repository()
    desk.shows(app(one=source("elsewhere"), resources=[other]))
    assert (await found(desk)).target.place is None


async def test_two_applications_that_list_it_are_a_tie(desk):
    desk.repository()
    desk.shows(app("payments"), app("payments-old", one=source("old")))
    sentence = await refused(desk)
    assert sentence == (
        "Deployment payments/payments-api is listed by each of: "
        "Application argocd/payments, Application argocd/payments-old."
    )


async def test_of_apps_of_apps_the_innermost_is_meant(desk):
    desk.repository()
    child = listed(kind="Application", name="payments", namespace="argocd", group="argoproj.io")
    middle = listed(kind="Application", name="team", namespace="argocd", group="argoproj.io")
    root = app("root", one=source("clusters/prod"), resources=[middle, listed()])
    team = app("team", one=source("teams/a"), resources=[child])
    desk.shows(root, team, app())
    answer = await found(desk)
    assert answer.target.place.by == "Application argocd/payments"
    assert "it is the innermost" in "\n".join(answer.target.trace)


async def test_an_application_set_is_not_the_source_of_what_it_makes(desk):
    desk.repository()
    maker = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "name": "all",
        "uid": "1",
    }
    sets = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "all", "namespace": "argocd"},
        "spec": {"generators": [{"git": {"repoURL": "https://github.com/shop/sets"}}]},
    }
    desk.shows(sets, app(ownerReferences=[{**maker, "controller": True}]))
    answer = await found(desk)
    assert answer.target.repo == REPO
    assert "ApplicationSet all made it" in "\n".join(answer.target.trace)


async def test_others_that_deploy_the_same_files_are_named(desk):
    desk.repository()
    east = {"server": "https://east.example:6443", "namespace": "payments"}
    desk.shows(app(), app("payments-east", destination=east))
    answer = await found(desk)
    assert answer.target.place.shared_with == ("Application argocd/payments-east",)
    assert "also feeds Application argocd/payments-east" in "\n".join(answer.target.trace)


async def test_a_repository_that_is_not_allowed_is_never_replaced_by_one_that_looks_alike(desk):
    desk.repository()
    desk.shows(app(one=source(url="git@github.com:attacker/platform-gitops.git")))
    sentence = await refused(desk)
    assert "github.com/attacker/platform-gitops" in sentence
    assert "is not allowed; see gitops.yaml" in sentence
    assert desk.repositories.read == []


async def test_a_repository_that_may_not_serve_the_cluster_is_said_so(desk):
    desk.repository(cluster="staging")
    desk.repository("shop/other", {"a.yaml": "kind: List\n"})
    desk.shows(app())
    assert "may not serve Deployment payments/payments-api" in await refused(desk)


@pytest.mark.parametrize(
    ("revision", "why"),
    [
        ("v1.4.2", "pinned to the tag 'v1.4.2'"),
        ("1.*", "the newest tag within '1.*'"),
        (">=1.2.0 <2.0.0", "the newest tag within '>=1.2.0 <2.0.0'"),
        ("3f5c0a9", "pinned to the commit '3f5c0a9'"),
        ("a" * 40, "pinned to the commit"),
        ("release", "the branch 'release'"),
        ("refs/tags/main", "pinned to the tag 'refs/tags/main'"),
        ("stable", "pinned to the tag 'stable'"),
    ],
)
async def test_what_does_not_follow_the_base_branch_cannot_be_changed_by_a_pull_request(
    desk, revision, why
):
    desk.repository()
    desk.repositories.branches[REPO, "release"] = "9" * 40
    desk.shows(app(one=source(revision=revision)))
    sentence = await refused(desk)
    assert why in sentence
    assert "pull requests go to the branch 'main'" in sentence


@pytest.mark.parametrize("revision", ["main", "HEAD", "", "refs/heads/main"])
async def test_the_base_branch_has_several_names(desk, revision):
    desk.repository()
    desk.shows(app(one=source(revision=revision)))
    assert (await found(desk)).target.file == FILE


async def test_of_two_entries_for_one_repository_the_one_of_the_branch_is_meant(desk):
    desk.repository(REPO, urls=(URL,), branch="release")
    desk.repository("shop/same", urls=(URL,))
    desk.shows(app())
    assert (await found(desk)).target.repo == "shop/same"


async def test_a_kustomization_is_followed_from_the_folder_of_the_source(desk):
    patch = desk.deployment.replace("  replicas: 2\n", "")
    desk.repository(
        files={
            "payments/base/kustomization.yaml": "resources: [deployment.yaml]\n",
            "payments/base/deployment.yaml": desk.deployment.replace("128Mi", "64Mi"),
            "payments/prod/kustomization.yaml": BASE + "patches:\n- path: memory.yaml\n",
            "payments/prod/memory.yaml": patch,
            "payments/dev/kustomization.yaml": BASE,
        }
    )
    desk.shows(app(one=source("payments/prod"), type="Kustomize"))
    answer = await found(desk)
    assert answer.target.file == "payments/prod/memory.yaml"
    assert answer.target.place.kind is SourceKind.KUSTOMIZE


async def test_a_base_that_other_overlays_share_is_left_and_the_one_overlay_edited(desk):
    desk.repository(
        files={
            "payments/base/kustomization.yaml": "resources: [deployment.yaml]\n",
            "payments/base/deployment.yaml": desk.deployment,
            "payments/prod/kustomization.yaml": BASE,
            "payments/dev/kustomization.yaml": BASE,
        }
    )
    desk.shows(app(one=source("payments/prod"), type="Kustomize"))
    answer = await found(desk)
    assert answer.target.file == "payments/prod/kustomization.yaml"
    assert answer.edits[0].path == ("patches",)
    assert answer.edits[0].renders == answer.finding.change


@pytest.mark.parametrize(
    ("override", "path", "old"),
    [
        ({"images": ["ghcr.io/shop/payments:1.4.2"]}, "image", "ghcr.io/shop/payments:1.4.2"),
        ({"images": ["ghcr.io/shop/payments=mirror/payments:2"]}, "image", "mirror/payments:2"),
        ({"images": ["localhost:5000/payments"]}, "image", "localhost:5000/payments:1"),
        ({"replicas": [{"name": "payments-api", "count": 3}]}, "replicas", 3),
        ({"patches": [{"target": {"kind": "Deployment"}, "patch": "x"}]}, "memory", "128Mi"),
        ({"patches": [{"patch": "kind: Deployment"}]}, "memory", "128Mi"),
    ],
)
async def test_what_the_application_sets_itself_is_not_changed_in_vain(desk, override, path, old):
    paths = {
        "image": ("spec", "template", "spec", "containers", "[name=api]", "image"),
        "replicas": ("spec", "replicas"),
    }
    desk.repository(
        files={
            "apps/payments/kustomization.yaml": PLAIN,
            FILE: desk.deployment,
        }
    )
    desk.shows(app(one=source(kustomize=override), type="Kustomize"))
    asked = {"path": paths[path]} if path in paths else {}
    answer = await found(desk, old=old, **asked)
    assert "which wins over the files" in answer.edits[0].new


async def test_a_directory_counts_folders_and_globs_as_argo_does(desk):
    files = {
        "apps/payments/deployment.yaml": desk.deployment,
        "apps/payments/old/deployment.yaml": desk.deployment,
        "apps/payments/jobs/deployment.yaml": desk.deployment,
    }
    desk.repository(files=files)
    desk.shows(app())
    assert (await found(desk)).target.file == FILE
    left_out = {"recurse": True, "exclude": "{old/*,jobs/*}"}
    desk.shows(app(one=source(directory=left_out)))
    assert (await found(desk)).target.file == FILE
    only = {"recurse": True, "include": "old/*.yaml"}
    desk.shows(app(one=source(directory=only)))
    assert (await found(desk)).target.file == "apps/payments/old/deployment.yaml"
    desk.shows(app(one=source(directory={"recurse": True})))
    assert (await found(desk)).target.file.startswith("remediations/")


async def test_a_chart_names_its_value_files_in_order_and_is_not_edited_itself(desk):
    values = ["values-prod.yaml", "../../values/payments.yaml", "/global.yaml"]
    extra = dict.fromkeys(
        ["charts/payments/values-prod.yaml", "values/payments.yaml", "global.yaml"], "a: 1\n"
    )
    desk.repository(files={**chart(), **extra})
    helm = {"valueFiles": values, "releaseName": "pay", "parameters": [{"name": "image.tag"}]}
    desk.shows(app(one=source("charts/payments", helm=helm), type="Helm"))
    answer = await found(desk)
    place = answer.target.place
    assert (place.kind, place.path, place.release) == (SourceKind.HELM, "charts/payments", "pay")
    assert place.value_files == tuple(extra)
    assert place.overrides == ("value image.tag",)
    assert answer.target.file.startswith("remediations/")
    assert "Helm makes it of the chart in charts/payments" in answer.edits[0].new


async def test_values_may_come_from_a_repository_that_a_source_lends(desk):
    desk.repository(files={"payments/prod/values.yaml": "a: 1\n"})
    lends = {"repoURL": URL, "targetRevision": "main", "ref": "values"}
    of_chart = {
        "repoURL": "https://charts.example.com",
        "chart": "payments",
        "targetRevision": "3.1.0",
        "helm": {"valueFiles": ["$values/payments/prod/values.yaml"]},
    }
    desk.shows(app(several=[of_chart, lends], types=["Helm", "Directory"]))
    place = (await found(desk)).target.place
    assert place.value_files == ("payments/prod/values.yaml",)
    assert place.chart == "the chart payments of https://charts.example.com"
    assert (place.path, place.release) == ("", "payments")


async def test_a_chart_whose_values_are_only_in_the_application_is_in_no_repository(desk):
    desk.repository()
    of_chart = {
        "repoURL": "https://charts.example.com",
        "chart": "payments",
        "targetRevision": "3.1.0",
        "helm": {"valuesObject": {"resources": {"limits": {"memory": "128Mi"}}}},
    }
    desk.shows(app(one=of_chart, type="Helm"))
    assert "no repository holds it" in await refused(desk)


async def test_of_several_sources_the_one_that_declares_the_object_is_meant(desk):
    desk.repository(files={FILE: desk.deployment, "apps/extra/service.yaml": "kind: Service\n"})
    several = [source("apps/extra"), source()]
    desk.shows(app(several=several))
    answer = await found(desk)
    assert answer.target.place.path == "apps/payments"
    assert "one of them declares it" in "\n".join(answer.target.trace)


async def test_several_sources_that_all_may_hold_it_are_a_tie(desk):
    desk.repository(files={FILE: desk.deployment, "apps/two/deployment.yaml": desk.deployment})
    desk.shows(app(several=[source(), source("apps/two")]))
    assert "each of several may hold" in await refused(desk)


async def test_a_chart_beside_manifests_that_do_not_declare_it_is_meant(desk):
    desk.repository(files={**chart(), "apps/extra/service.yaml": "kind: Service\n"})
    several = [source("apps/extra"), source("charts/payments")]
    desk.shows(app(several=several, types=["Directory", "Helm"]))
    assert (await found(desk)).target.place.path == "charts/payments"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (source("../../etc"), "leads out of the repository"),
        (source("gone"), "'gone', which shop/platform-gitops has not"),
        (source(plugin={"name": "envsubst"}), "through a plugin"),
        (
            source(helm={"valueFiles": ["$lost/values.yaml"]}),
            "'$lost/values.yaml' cannot be followed",
        ),
        (source(helm={"valueFiles": ["https://x.example/v.yaml"]}), "cannot be followed"),
        (source(helm={"valueFiles": ["../../../v.yaml"]}), "cannot be followed"),
    ],
)
async def test_what_cannot_be_followed_is_handed_over_with_the_reason(desk, wrong, why):
    desk.repository()
    desk.shows(app(one=wrong, type=""))
    assert why in await refused(desk)


async def test_a_hydrated_application_is_changed_where_its_dry_source_is(desk):
    desk.repository()
    one = app()
    del one["spec"]["source"]
    one["spec"]["sourceHydrator"] = {
        "drySource": {"repoURL": URL, "targetRevision": "main", "path": "apps/payments"},
        "syncSource": {"targetBranch": "env/prod", "path": "payments"},
    }
    desk.shows(one)
    assert (await found(desk)).target.file == FILE


async def test_a_local_copy_whose_url_nobody_knows_is_searched_as_before(desk):
    desk.repository("gitops", host="local")
    desk.shows(app())
    answer = await found(desk)
    assert answer.target.place is None
    assert "`urls` in gitops.yaml can" in "\n".join(answer.target.trace)


async def test_applications_that_cannot_be_seen_are_no_reason_to_guess(desk):
    desk.repository()
    desk.shows(denied=["Application", "Kustomization", "HelmRelease"])
    answer = await found(desk)
    assert answer.target.place is None
    told = "\n".join(answer.target.trace)
    assert "Argo CD: its Applications were not seen; Application is forbidden" in told


async def test_an_application_of_another_api_is_not_argo_cd(desk):
    desk.repository()
    other = {**app(one=source("elsewhere")), "apiVersion": "app.k8s.io/v1beta1"}
    desk.shows(other)
    assert (await found(desk)).target.place is None


async def test_words_of_an_application_stay_on_one_line_and_show_no_login(desk):
    desk.repository()
    desk.shows(app(one=source("apps/\x1b[31mx\ny", url="https://me:token-1@evil.example/a/b")))
    answer = await desk.resolve()
    said = "\n".join((answer.sentence, *answer.trace))
    assert "token-1" not in said
    assert "\x1b" not in said
    assert all("\n" not in line for line in (answer.sentence, *answer.trace))


def marks(app, of="apps/Deployment:payments/payments-api"):
    return {"annotations": {"argocd.argoproj.io/tracking-id": f"{app}:{of}"}}


def foreign(name="payments", **given):
    """An Application that somebody wrote into a namespace of their own, status and all."""
    return app(name, one=source(url="https://github.com/shop/evil"), namespace="tenant", **given)


@pytest.fixture
def rivals(desk):
    desk.repository()
    desk.repository("shop/evil", {FILE: desk.deployment})
    return desk


async def test_an_application_in_a_namespace_of_somebody_is_no_answer(rivals):
    rivals.shows(foreign())
    assert "may come from any of: shop/platform-gitops, shop/evil" in await refused(rivals)


async def test_a_claim_from_elsewhere_does_not_stand_in_the_way_of_the_answer(rivals):
    rivals.shows(foreign(), app(), **marks("payments"))
    answer = await found(rivals)
    assert answer.target.repo == REPO
    told = "\n".join(answer.target.trace)
    assert "Application tenant/payments claims it and is not believed" in told


async def test_argo_itself_says_which_application_of_another_namespace_it_is(rivals):
    rivals.shows(foreign(), **marks("tenant_payments"))
    assert (await found(rivals)).target.repo == "shop/evil"


async def test_a_mark_of_another_object_was_copied_with_its_manifest(rivals):
    rivals.shows(foreign(), app(), **marks("tenant_payments", "apps/Deployment:payments/other"))
    assert (await found(rivals)).target.repo == REPO


async def test_the_mark_of_another_application_wins_over_what_one_lists(rivals):
    rivals.shows(app(), **marks("other"))
    assert "may come from any of" in await refused(rivals)
