"""What is asked of the world about a change, and what a refusal leaves unknown."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.port import EVERYWHERE
from tocsin_contracts import FailureCode, Place, RunId, SourceKind
from tocsin_gitops.config import Repository
from tocsin_gitops.policy import WritePolicy
from tocsin_gitops.source import BlobFile, Commit
from tocsin_kit.errors import TransientError
from tocsin_testing import build
from tocsin_testing.repositories import FakeRepositories
from tocsin_validation.checks.competing import NoCompetingPull
from tocsin_validation.ports import Proposed
from tocsin_validation.surroundings.refusals import code_of
from tocsin_validation.surroundings.surveyor import Means, Pinned, Surveyor

REPO = "shop/platform-gitops"
EDIT = build.edit()
FILE = EDIT.file
MANIFEST = b"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: payments-api}\n"


class Living:
    """A cluster that answers from a list, and remembers what it was asked."""

    source = "kube"

    def __init__(self, *raw, recorded_at=None, refusing=""):
        self.recorded_at = recorded_at
        self.asked = []
        self._objects = [Manifest(one) for one in raw]
        self._refusing = refusing

    async def get(self, ref):
        self._ask(ref.kind)
        return next((one for one in self._objects if one.ref == ref), None)

    async def list(self, kind, namespace, labels=None):
        self._ask(kind)
        fits = (namespace, EVERYWHERE)
        return tuple(
            one for one in self._objects
            if one.ref.kind == kind and (one.ref.namespace in fits or namespace == EVERYWHERE)
        )  # fmt: skip

    def _ask(self, kind):
        self.asked.append(kind)
        if kind == self._refusing:
            raise ClusterError(f"{kind}s is forbidden: cannot list resource")


class Hanging(Living):
    """A cluster that never answers about nodes."""

    async def list(self, kind, namespace, labels=None):
        if kind == "Node":
            await asyncio.Event().wait()
        return await super().list(kind, namespace, labels)


def named(kind, name="x", namespace="payments", **fields):
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


WORKLOAD = named("Deployment", "payments-api", spec={"replicas": 2})
NODE = named("Node", "n1", "", status={"nodeInfo": {"kubeletVersion": "v1.33.2"}})
OLDER = named("Node", "n2", "", status={"nodeInfo": {"kubeletVersion": "v1.9.0"}})


def proposed(**changes) -> Proposed:
    fields = {
        "alert": build.alert(),
        "hypothesis": build.hypothesis(),
        "target": build.target(),
        "edits": (EDIT,),
        "before": {FILE: MANIFEST},
        "after": {FILE: MANIFEST},
        "modes": {FILE: "100644"},
        "policy": WritePolicy(),
        "issue_key": "k",
        "head_branch": "tocsin/mine",
    }
    return Proposed(**(fields | changes))


async def look(cluster, change=None, source=None, **means):
    source = source or FakeRepositories()
    repository = Repository(name=REPO, git_dir=Path("none.git"), paths=("apps/**",))
    pinned = Pinned(repository, "1" * 40, {FILE: BlobFile(MANIFEST, "100644")})
    surveyor = Surveyor(source, OneCluster(cluster), Means(kubectl="", **means))
    return await surveyor.look(RunId(build.RUN), change or proposed(), pinned)


async def test_a_living_cluster_tells_what_the_checks_need():
    around = await look(Living(WORKLOAD, NODE, OLDER, named("ResourceQuota")))
    assert around.live.value.ref.name == "payments-api"
    assert [one.ref.kind for one in around.quotas.value] == ["ResourceQuota"]
    assert len(around.nodes.value) == 2
    assert around.version == "v1.9.0"
    assert (around.recorded, around.pods.value) == (False, ())


async def test_only_what_the_change_may_depend_on_is_asked_for():
    cluster = Living(WORKLOAD, NODE)
    path = ("spec", "template", "spec", "serviceAccountName")
    finding = build.finding(change=build.field_change(path=path, old="a", new="b"))
    around = await look(cluster, proposed(hypothesis=build.hypothesis(finding=finding)))
    assert {"ResourceQuota", "HorizontalPodAutoscaler", "PodDisruptionBudget"} & set(
        cluster.asked
    ) == set()
    assert around.quotas.value is None


@pytest.mark.parametrize("path", [("spec", "replicas"), EDIT.path])
async def test_a_change_of_pods_or_of_what_they_ask_for_asks_for_budgets_and_autoscalers(path):
    finding = build.finding(change=build.field_change(path=path, old=1, new=2))
    around = await look(Living(WORKLOAD), proposed(hypothesis=build.hypothesis(finding=finding)))
    assert (around.budgets.value, around.scalers.value) == ((), ())


async def test_one_refusal_leaves_one_thing_unknown():
    around = await look(Living(WORKLOAD, NODE, refusing="ResourceQuota"))
    assert (around.quotas.value, around.quotas.code) == (None, FailureCode.RIGHTS_DENIED)
    assert "forbidden" in around.quotas.why
    assert around.nodes.value


async def test_a_question_without_an_answer_in_time_is_unknown_and_holds_up_no_other():
    around = await look(Hanging(WORKLOAD), seconds=0.05)
    assert around.nodes.code is FailureCode.TIMEOUT
    assert around.live.value


async def test_an_object_that_is_gone_is_not_known():
    around = await look(Living(NODE))
    assert around.live.code is FailureCode.NOT_FOUND
    assert around.pods.value is None


async def test_a_recording_without_a_kind_does_not_say_that_there_is_none():
    around = await look(Living(WORKLOAD, recorded_at=build.NOW))
    assert around.recorded
    assert around.quotas.code is FailureCode.NOT_RECORDED
    assert around.nodes.code is FailureCode.NOT_RECORDED


async def test_a_recording_that_holds_a_kind_elsewhere_says_that_there_is_none_here():
    other = named("ResourceQuota", namespace="shop")
    around = await look(Living(WORKLOAD, other, recorded_at=build.NOW))
    assert around.quotas.value == ()


async def test_without_a_cluster_everything_about_it_is_unknown_and_says_why():
    around = await look(UnseenCluster("the cluster 'eu' is not connected"))
    assert around.live.value is None
    assert around.nodes.code is FailureCode.CONTEXT_NOT_FOUND


async def test_the_schema_of_a_custom_resource_comes_from_its_definition():
    schema = {"type": "object"}
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]
    definition = named(
        "CustomResourceDefinition", "deployments.shop.example", "", spec={"versions": versions}
    )
    manifest = MANIFEST.replace(b"apps/v1", b"shop.example/v1")
    around = await look(Living(WORKLOAD, definition), proposed(before={FILE: manifest}))
    assert around.schemas.value == {("shop.example/v1", "Deployment"): schema}


async def test_a_kind_that_comes_with_the_cluster_needs_no_definition():
    cluster = Living(WORKLOAD)
    assert (await look(cluster)).schemas.value == {}
    assert "CustomResourceDefinition" not in cluster.asked


async def test_what_a_chart_makes_is_not_known_and_not_taken_for_nothing():
    place = Place(host="local", repo=REPO, revision="main", by="Application argocd/x",
                  kind=SourceKind.HELM)  # fmt: skip
    change = proposed(target=build.target(place=place))
    around = await look(Living(WORKLOAD), change)
    assert (around.rendered.value, around.rendered.code) == (None, FailureCode.UNSUPPORTED)


async def test_the_newest_commits_of_the_file_are_known():
    source = FakeRepositories()
    source.log = [Commit("c" * 40, "", "ana", build.NOW, "x", (FILE,)),
                  Commit("d" * 40, "", "ana", build.NOW, "y", ("other",))]  # fmt: skip
    around = await look(Living(WORKLOAD), source=source)
    assert [one.sha for one in around.later.value] == ["c" * 40]


async def test_pull_requests_of_others_on_the_same_file_are_known_and_ours_are_not():
    source = FakeRepositories()
    for number, branch in enumerate(
        ("tocsin/mine", "tocsin/mine-2", "theirs", "afar", "tocsin/mine-too"), 1
    ):
        source.open(REPO, branch)
        source.touches[REPO, number] = ("README.md",) if branch == "afar" else (FILE,)
    around = await look(Living(WORKLOAD), source=source)
    assert {one.url for one in around.competing.value} == {
        f"local://{REPO}/3",
        f"local://{REPO}/5",
    }


async def rival_of(text, source=None):
    """Return what is known of one pull request that makes this of the file."""
    source = source or FakeRepositories()
    source.open(REPO, "theirs")
    source.push(REPO, "theirs", {FILE: text})
    source.touches[REPO, 1] = (FILE,)
    change = proposed()
    around = await look(Living(WORKLOAD), change, source)
    (rival,) = around.competing.value
    change = replace(change, around=around)
    return rival.same_field, NoCompetingPull().run(change)


async def test_a_pull_request_on_another_field_of_the_file_does_not_compete():
    same, answer = await rival_of(MANIFEST + b"  # by hand\n")
    assert (same, answer.verdict) == (False, "pass")
    assert "but on other fields: local://" in answer.detail


async def test_a_pull_request_on_the_same_field_competes():
    container = b"{name: api, resources: {limits: {memory: 2Gi}}}"
    spec = b"spec: {template: {spec: {containers: [" + container + b"]}}}\n"
    same, answer = await rival_of(MANIFEST + spec)
    assert (same, answer.verdict) == (True, "fail")
    assert "on the same field" in answer.detail


@pytest.mark.parametrize("text", [b"a: [", b"kind: Service\nmetadata: {name: x}\n"])
async def test_a_pull_request_that_cannot_be_followed_may_be_on_the_same_field(text):
    same, answer = await rival_of(text)
    assert (same, answer.verdict) == (None, "fail")
    assert "cannot be told" in answer.detail


class Unreadable(FakeRepositories):
    """A host that shows no file of a pull request."""

    async def proposed(self, repo, pull, path):
        raise TransientError("away")


async def test_where_a_host_does_not_show_the_file_the_same_file_is_enough():
    same, answer = await rival_of(MANIFEST, Unreadable())
    assert (same, answer.verdict) == (None, "fail")


async def test_a_pull_request_of_more_files_than_are_listed_is_not_known_to_be_elsewhere():
    source = FakeRepositories()
    source.open(REPO, "theirs")
    source.touches[REPO, 1] = tuple(f"{n}.md" for n in range(300))
    around = await look(Living(WORKLOAD), source=source)
    assert around.competing.value is None


async def test_commits_of_every_edited_file_are_known_the_newest_first():
    source = FakeRepositories()
    later = build.NOW + timedelta(minutes=1)
    source.log = [Commit("c" * 40, "", "ana", build.NOW, "x", (FILE,)),
                  Commit("d" * 40, "", "ana", later, "y", ("other.yaml",))]  # fmt: skip
    change = proposed(edits=(EDIT, EDIT.model_copy(update={"file": "other.yaml"})))
    around = await look(Living(WORKLOAD), change, source)
    assert [one.sha for one in around.later.value] == ["d" * 40, "c" * 40]


async def test_the_oldest_version_is_told_by_numbers_and_not_by_letters():
    nodes = [named("Node", text, "", status={"nodeInfo": {"kubeletVersion": text}})
             for text in ("v1.31.2", "v1.30.9-eks-113cf36")]  # fmt: skip
    assert (await look(Living(WORKLOAD, *nodes))).version == "v1.30.9-eks-113cf36"


class Named:
    """Remembers which cluster was asked for."""

    def __init__(self):
        self.asked = []

    def named(self, cluster):
        self.asked.append(cluster)
        return Living(WORKLOAD)


async def test_the_cluster_that_only_a_label_names_is_the_one_that_is_looked_at():
    clusters = Named()
    alert = build.alert(workload=None, labels={"cluster": "east"})
    repository = Repository(name=REPO, git_dir=Path("none.git"), paths=("apps/**",))
    pinned = Pinned(repository, "1" * 40, {FILE: BlobFile(MANIFEST, "100644")})
    surveyor = Surveyor(FakeRepositories(), clusters, Means(kubectl=""))
    await surveyor.look(RunId(build.RUN), proposed(alert=alert), pinned)
    assert clusters.asked == ["east"]


class Crowded(FakeRepositories):
    """A host on which more is proposed than can be looked through."""

    async def open_pulls(self, repo):
        (one,) = (self.open(repo.name, "theirs"),)
        return (one,) * 31


async def test_more_pull_requests_than_can_be_looked_through_are_not_none():
    around = await look(Living(WORKLOAD), source=Crowded())
    assert around.competing.value is None
    assert "31 pull requests" in around.competing.why


class Record:
    """The record of a run; or a store that is away."""

    def __init__(self, run):
        self._run = run

    async def get(self, run_id):
        assert run_id == build.RUN
        if self._run is None:
            raise TransientError("the store is away")
        return self._run


async def test_the_record_tells_of_a_freeze_and_of_the_environment():
    opened = build.incident_opened(freeze="year end", environment="prod")
    around = await look(Living(WORKLOAD), runs=Record(build.run(opened)))
    assert (around.incident.value.freeze, around.incident.value.environment) == ("year end", "prod")
    assert around.incident.value.cleared_at is None


async def test_alerts_have_cleared_when_all_have_and_none_came_back():
    opened, later = build.incident_opened(), build.NOW + timedelta(minutes=1)
    cleared = build.alert_resolved(still_firing=0)
    back = build.alert_repeated(at=later)
    for facts, at in (
        ((cleared,), build.NOW),
        ((build.alert_resolved(still_firing=1),), None),
        ((cleared, back), None),
        ((cleared, replaced(back)), build.NOW),
    ):
        around = await look(Living(WORKLOAD), runs=Record(build.run(opened, *facts)))
        assert around.incident.value.cleared_at == at


def replaced(event):
    return event.model_copy(update={"at": build.NOW - timedelta(minutes=1)})


async def test_a_store_that_is_away_is_asked_again_and_not_taken_for_no_freeze():
    with pytest.raises(TransientError):
        await look(Living(WORKLOAD), runs=Record(None))


async def test_without_a_record_nobody_knows_of_a_freeze():
    assert (await look(Living(WORKLOAD))).incident.value is None


def test_a_change_is_about_the_object_that_changes():
    assert replace(proposed(), after={}).hypothesis.finding.change.object == EDIT.document


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("pods is forbidden: User x cannot list resource", FailureCode.RIGHTS_DENIED),
        ("You must be logged in to the server (Unauthorized)", FailureCode.MISSING_CREDENTIALS),
        ("x509: certificate has expired or is not yet valid", FailureCode.EXPIRED_CREDENTIALS),
        ("the server answered 429 Too Many Requests", FailureCode.RATE_LIMITED),
        ('context "prod" does not exist', FailureCode.CONTEXT_NOT_FOUND),
        ("the cluster 'x' is not connected; there is y", FailureCode.CONTEXT_NOT_FOUND),
        ("read timed out", FailureCode.TIMEOUT),
        ("objects of the kind 'X' are not looked at through MCP", FailureCode.UNSUPPORTED),
        ("exec: executable file not found", FailureCode.MISSING_TOOL),
        ("connection refused", FailureCode.CLUSTER_UNREACHABLE),
    ],
)
def test_a_refusal_is_told_by_its_words(sentence, code):
    assert code_of(sentence) is code
