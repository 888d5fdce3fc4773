"""What `tocsin resolve` says of an alert: the place, the files, and every step on the way."""

from tocsin_contracts import ObjectRef, Workload
from tocsin_gitops.config import GitOps
from tocsin_testing import build
from tocsin_validation.resolving import Resolver
from tocsin_validation.resolving.checkouts import Checkouts
from tocsin_validation.resolving.telling import plain, tell

URL = "https://github.com/shop/platform-gitops"
BASE = {
    "kind": "Application",
    "apiVersion": "argoproj.io/v1alpha1",
    "metadata": {"name": "payments", "namespace": "argocd"},
}
LISTED = {
    "group": "apps",
    "kind": "Deployment",
    "namespace": "payments",
    "name": "payments-api",
}


def app(**source):
    spec = {
        "destination": {"name": "in-cluster"},
        "source": {"repoURL": URL, "targetRevision": "main", "path": "apps/payments", **source},
    }
    return {**BASE, "spec": spec, "status": {"resources": [LISTED]}}


async def told(desk, pod="payments-api", **labels):
    workload = Workload(cluster="prod", namespace="payments", name=pod)
    alert = build.alert(workload=workload, labels=labels)
    gitops = GitOps(repositories=tuple(desk.allowed))
    resolver = Resolver(gitops, desk.repositories, desk.clusters)
    return await tell(resolver, Checkouts(desk.repositories), alert)


async def test_the_place_is_told_with_its_files_and_every_step(desk):
    desk.repository()
    desk.shows(app())
    text = plain(await told(desk))
    assert text.splitlines() == [
        "Deployment payments/payments-api",
        "repository: shop/platform-gitops on github.com, branch main",
        "source: Application argocd/payments, directory apps/payments",
        "files: apps/payments/deployment.yaml",
        "",
        "how it was found:",
        "- identity: the alert is about Deployment payments/payments-api; "
        "by the name 'payments-api' alone",
        "- labels of the alert: none of them names a source",
        "- Argo CD: Application argocd/payments lists Deployment payments/payments-api; "
        "status.resources lists it for this cluster",
        "- Application argocd/payments: deploys apps/payments of "
        "github.com/shop/platform-gitops at main; "
        "that is shop/platform-gitops, directory apps/payments",
        "- shop/platform-gitops: declares it in apps/payments/deployment.yaml",
    ]


async def test_of_a_chart_the_files_are_its_values(desk):
    files = {"apps/payments/Chart.yaml": "", "apps/payments/values.yaml": "", "prod.yaml": ""}
    desk.repository(files=files)
    desk.shows(app(helm={"valueFiles": ["../../prod.yaml"]}))
    answer = await told(desk)
    assert answer.files == ("apps/payments/values.yaml", "prod.yaml")
    assert "values: prod.yaml" in plain(answer)


async def test_what_nobody_deploys_is_searched_and_told(desk):
    desk.repository()
    desk.repository("shop/other", {"a.yaml": "kind: List\n"})
    answer = await told(desk)
    assert (answer.repo, answer.place) == ("shop/platform-gitops", None)


async def test_an_object_of_several_repositories_is_unresolved(desk):
    desk.repository()
    desk.repository("shop/other", {"a.yaml": desk.deployment})
    answer = await told(desk)
    assert answer.repo == ""
    assert "may come from any of: shop/platform-gitops, shop/other" in plain(answer)


async def test_an_object_that_nobody_declares_is_unresolved(desk):
    desk.repository(files={"a.yaml": "kind: List\n"})
    assert "is declared by none of: shop/platform-gitops" in (await told(desk)).sentence


async def test_a_repository_that_is_not_allowed_is_unresolved_with_the_trace(desk):
    desk.repository()
    answer = await told(desk, gitops_repo="attacker/x")
    assert answer.sentence.startswith("'attacker/x', which the alert names, is not allowed")
    assert answer.object == ObjectRef(kind="Deployment", namespace="payments", name="payments-api")


async def test_an_alert_about_nothing_that_is_known_says_so(desk):
    desk.repository()
    answer = await told(desk, pod="unheard-of")
    assert "unresolved: Nothing in the alert names an object" in plain(answer)


async def test_without_a_cluster_the_repository_says_what_a_pod_belongs_to(desk):
    desk.repository(host="local")
    desk.clusters.views.clear()
    answer = await told(desk, pod="payments-api-7d9c8b6f5d-x2k9p")
    assert answer.files == ("apps/payments/deployment.yaml",)
    text = plain(answer)
    assert "by the name 'payments-api-7d9c8b6f5d-x2k9p' alone" in text
    assert "its Applications were not seen; the cluster 'prod' is not connected" in text
