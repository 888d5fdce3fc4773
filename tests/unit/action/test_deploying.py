"""What Argo CD and Flux are believed to say about a merged commit."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from tocsin_action import assembly
from tocsin_action.arrival import UNTOLD, Standing
from tocsin_action.deploying import Controllers
from tocsin_action.settings import Settings
from tocsin_cluster.clusters import NamedClusters, OneCluster
from tocsin_contracts import Place
from tocsin_gitops.config import DeployedCluster, GitOps, Repository
from tocsin_gitops.objects import Commit
from tocsin_kit.errors import PermanentError
from tocsin_testing import build
from tocsin_testing.fixed_cluster import FixedCluster
from tocsin_testing.repositories import FakeRepositories

REPO = build.target().repo
GITOPS = GitOps(repositories=(Repository(name=REPO, git_dir="none.git", paths=("apps/**",)),))
DONE = datetime(2026, 1, 2, 12, 4, tzinfo=UTC)
STRANGE = "f" * 40


@pytest.fixture
def shop():
    """Return a repository with a commit before ours, ours, and one after it."""
    source = FakeRepositories()
    source.shas = [source.commit(REPO, {"apps/a.yaml": str(number)}) for number in range(3)]
    return source


def target(by="Application argocd/payments"):
    place = Place(host="local", repo=REPO, revision="main", by=by)
    return build.target(place=place)


def application(**status):
    spec = status.pop("spec", {})
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"namespace": "argocd", "name": "payments"},
        "spec": spec,
        "status": {"health": {"status": "Healthy"}, **status},
    }


def flux(kind="Kustomization", ready="True", reason="ReconciliationSucceeded", **status):
    told = {"type": "Ready", "status": ready, "reason": reason, "message": "as Flux says"}
    return {
        "kind": kind,
        "metadata": {"namespace": "flux-system", "name": "apps", "generation": 2},
        "status": {"observedGeneration": 2, "conditions": [told], **status},
    }


def synced(revision, status="Synced"):
    return {"status": status, "revision": revision}


def operation(revision, phase="Succeeded", **more):
    done = DONE.isoformat().replace("+00:00", "Z")
    return {"phase": phase, "finishedAt": done, "syncResult": {"revision": revision}, **more}


async def look(shop, *objects, by="Application argocd/payments", **cluster):
    clusters = OneCluster(FixedCluster(objects, **cluster))
    asked = Controllers(clusters, GITOPS, shop)
    return await asked.arrival(build.alert(), target(by), shop.shas[1])


@pytest.mark.parametrize("at", [1, 2])
async def test_an_application_at_our_commit_or_a_later_one_has_it(shop, at):
    revision = shop.shas[at]
    seen = await look(shop, application(sync=synced(revision), operationState=operation(revision)))
    assert (seen.standing, seen.by, seen.revision) == (Standing.SYNCED, "Argo CD", revision)
    assert seen.synced_at == DONE


async def test_what_is_only_compared_is_not_synced(shop):
    old, new = shop.shas[0], shop.shas[1]
    app = application(sync=synced(new, "OutOfSync"), operationState=operation(old))
    assert (await look(shop, app)).standing is Standing.SYNCING


async def test_an_application_that_drifts_after_a_whole_sync_has_it(shop):
    new = shop.shas[1]
    app = application(sync=synced(new, "OutOfSync"), operationState=operation(new))
    assert (await look(shop, app)).standing is Standing.SYNCED
    some = operation(new, operation={"sync": {"resources": [{"name": "other"}]}})
    app = application(sync=synced(new, "OutOfSync"), operationState=some)
    assert (await look(shop, app)).standing is Standing.SYNCING


async def test_one_of_several_sources_is_enough_though_the_others_are_of_other_repositories(shop):
    sync = {"status": "Synced", "revisions": [STRANGE, shop.shas[2], "1.2.3"]}
    assert (await look(shop, application(sync=sync))).standing is Standing.SYNCED
    sync = {"status": "Synced", "revisions": [STRANGE, shop.shas[0]]}
    assert (await look(shop, application(sync=sync))).standing is Standing.SYNCING


@pytest.mark.parametrize("health", ["Progressing", "Degraded", "Missing"])
async def test_what_has_arrived_and_is_not_well_is_not_called_synced(shop, health):
    app = application(sync=synced(shop.shas[1]), health={"status": health})
    seen = await look(shop, app)
    assert seen.standing is Standing.UNHEALTHY
    assert health in seen.words


async def test_a_failed_operation_is_told_in_words_that_are_clean_and_short(shop):
    message = "one or more objects failed\n\x1b[31mto apply\u202e " + "x" * 1000
    failed = operation(shop.shas[1], "Failed", message=message)
    seen = await look(
        shop, application(sync=synced(shop.shas[1], "OutOfSync"), operationState=failed)
    )
    assert seen.standing is Standing.FAILED
    assert seen.words.startswith("one or more objects failed to apply x")
    assert len(seen.words) <= 300


@pytest.mark.parametrize("by", ["Application argocd/payments", "Kustomization flux-system/apps"])
async def test_a_failure_with_an_earlier_commit_is_none_of_ours(shop, by):
    old = operation(shop.shas[0], "Failed", message="a hook failed yesterday")
    app = application(sync=synced(shop.shas[1], "OutOfSync"), operationState=old)
    failed = flux(ready="False", reason="BuildFailed", lastAttemptedRevision=shop.shas[0])
    assert (await look(shop, app, failed, by=by)).standing is Standing.SYNCING
    ours = flux(ready="False", reason="BuildFailed", lastAttemptedRevision=shop.shas[1])
    app["status"]["operationState"] = operation(shop.shas[2], "Error", message="it is now")
    assert (await look(shop, app, ours, by=by)).standing is Standing.FAILED


async def test_what_is_suspended_is_waited_for_and_says_so(shop):
    stopped = flux(lastAppliedRevision=f"main@sha1:{shop.shas[0]}") | {"spec": {"suspend": True}}
    seen = await look(shop, stopped, by="Kustomization flux-system/apps")
    assert seen.standing is Standing.SYNCING
    assert seen.words.startswith("it is suspended")


async def test_what_reconciles_without_end_is_waited_for(shop):
    stuck = flux(
        ready="Unknown", reason="Progressing", lastAttemptedRevision=f"main@sha1:{shop.shas[1]}"
    )
    seen = await look(shop, stuck, by="Kustomization flux-system/apps")
    assert seen.standing is Standing.SYNCING


async def test_a_repository_that_argo_cannot_render_is_a_failure(shop):
    errors = [{"type": "ComparisonError", "message": "kustomize build failed"}]
    app = application(sync=synced(shop.shas[0], "Unknown"), conditions=errors)
    seen = await look(shop, app)
    assert (seen.standing, seen.words) == (Standing.FAILED, "kustomize build failed")


@pytest.mark.parametrize("form", ["main@sha1:{}", "main/{}", "{}"])
async def test_a_kustomization_names_its_commit_after_a_branch(shop, form):
    one = flux(lastAppliedRevision=form.format(shop.shas[2]))
    seen = await look(shop, one, by="Kustomization flux-system/apps")
    assert (seen.standing, seen.by, seen.revision) == (Standing.SYNCED, "Flux", shop.shas[2])


async def test_what_flux_applied_and_waits_for_in_vain_has_arrived(shop):
    revisions = {"lastAppliedRevision": shop.shas[0], "lastAttemptedRevision": shop.shas[1]}
    one = flux(ready="False", reason="HealthCheckFailed", **revisions)
    seen = await look(shop, one, by="Kustomization flux-system/apps")
    assert (seen.standing, seen.words) == (
        Standing.UNHEALTHY,
        "HealthCheckFailed: as Flux says",
    )
    one = flux(ready="False", reason="BuildFailed", **revisions)
    seen = await look(shop, one, by="Kustomization flux-system/apps")
    assert (seen.standing, seen.words) == (Standing.FAILED, "BuildFailed: as Flux says")


async def test_a_release_names_the_first_digits_of_its_commit(shop):
    sha = shop.shas[2]
    shop.log = [Commit(sha=sha, author="ana", subject="", at=DONE, files=(), parent="")]
    history = [{"status": "deployed", "chartVersion": f"1.2.3+{sha[:12]}"}]
    one = flux(kind="HelmRelease", history=history)
    seen = await look(shop, one, by="HelmRelease flux-system/apps")
    assert (seen.standing, seen.revision) == (Standing.SYNCED, sha)


async def test_a_release_that_names_only_a_version_tells_nothing(shop):
    history = [{"status": "deployed", "chartVersion": "1.2.3"}]
    one = flux(kind="HelmRelease", history=history, lastAttemptedRevision="1.2.3")
    assert await look(shop, one, by="HelmRelease flux-system/apps") == UNTOLD


async def test_what_is_not_seen_is_unknown_and_never_a_failure(shop):
    app = application(sync=synced(shop.shas[1]))
    assert (await look(shop, app, denied=["Application"])).standing is Standing.UNKNOWN
    assert await look(shop) == UNTOLD
    assert await look(shop, app, by="tocsin.dev/gitops-path of the alert") == UNTOLD
    hydrated = application(sync=synced(shop.shas[1]), spec={"sourceHydrator": {"a": "b"}})
    assert await look(shop, hydrated) == UNTOLD
    elsewhere = application(sync=synced(STRANGE))
    assert (await look(shop, elsewhere)).standing is Standing.UNKNOWN


async def test_a_cluster_that_does_not_answer_is_not_waited_for(shop):
    class Silent(FixedCluster):
        async def get(self, ref):
            raise TimeoutError

    asked = Controllers(OneCluster(Silent()), GITOPS, shop)
    seen = await asked.arrival(build.alert(), target(), shop.shas[1])
    assert (seen.standing, seen.by) == (Standing.UNKNOWN, "Argo CD")


async def test_an_application_is_looked_for_where_argo_cd_is(shop):
    app = application(sync=synced(shop.shas[1]))
    gitops = GITOPS.model_copy(update={"clusters": (DeployedCluster(name="prod", argo="hub"),)})
    clusters = NamedClusters({"prod": FixedCluster(), "hub": FixedCluster([app])})
    alert = build.alert(workload=build.workload(cluster="prod"))
    seen = await Controllers(clusters, gitops, shop).arrival(alert, target(), shop.shas[1])
    assert seen.standing is Standing.SYNCED


def test_without_a_cluster_action_starts_without_the_libraries_for_one():
    code = "import sys, tocsin_action.assembly; print('mcp' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / "servers.yaml"
    file.write_text(
        "servers: {kube: {transport: stdio, command: kube-server, allow: [resources_get]}}"
    )
    return lambda server: Settings.load(
        [f"--mcp-servers={file}", f'--cluster-servers={{"prod": "{server}"}}']
    )


def test_a_connected_cluster_is_watched(settings, shop):
    watching = assembly.watched(settings("kube"), GITOPS, shop)
    assert isinstance(watching.deploying, Controllers)
    assert len(watching.resources) == 1
    assert "kube" in watching.notice()


def test_a_cluster_behind_a_server_that_is_not_there_is_told_at_the_start(settings, shop):
    with pytest.raises(PermanentError, match="TOCSIN_CLUSTER_SERVERS"):
        assembly.watched(settings("other"), GITOPS, shop)
