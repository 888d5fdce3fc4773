"""A living cluster through the real Kubernetes MCP server: diagnosed without any recording."""

import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from tocsin_cli.demo import proof
from tocsin_contracts import CauseClass, EvidenceKind, HypothesisFormed, RunState
from tocsin_testing.kube_api import TOKEN, KubeApi, kubeconfig, serving
from tocsin_testing.pipeline import pipeline

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy" / "mcp"
RECORDED = Path(proof.__file__).with_name("assets") / "snapshot"
CLUSTER = "prod-eu-1"
PASSWORD = "aHVudGVyMjIyMg=="


def flat(document):
    yield from document["items"] if document["kind"] == "List" else [document]


def named(kind, name, **more):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **more}}


def cluster():
    """The demo's cluster as an API that answers, with a crowd and a Secret beside the workload."""
    documents = [
        document
        for file in sorted(RECORDED.rglob("*.yaml"))
        for document in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader)
    ]
    objects = [one for document in documents if document for one in flat(document)]
    spaces = {one["metadata"].get("namespace") for one in objects} - {None}
    secret = named("Secret", "db", namespace="payments") | {"data": {"password": PASSWORD}}
    filler = {"annotations": {"about": "x" * 2000}}
    crowd = [named("Pod", f"idle-{n}", namespace="payments", **filler) for n in range(300)]
    logs = {(file.parts[-3], file.parts[-2]): file.read_text() for file in RECORDED.rglob("*.log")}
    return KubeApi(
        [*objects, *crowd, secret, *(named("Namespace", space) for space in spaces)], logs
    )


def servers(folder, program, url):
    """The servers that are shipped as an example, except where the program and its file are."""
    shipped = yaml.safe_load((DEPLOY / "servers.example.yaml").read_text())
    entry = shipped["servers"]["kubernetes"]
    entry["command"] = str(program)
    entry["args"] = [one.replace("deploy/mcp", str(DEPLOY)) for one in entry["args"]]
    entry["env"]["KUBECONFIG"] = str(kubeconfig(url, folder / "kubeconfig"))
    file = folder / "servers.yaml"
    file.write_text(json.dumps(shipped))
    return file


@asynccontextmanager
async def living(folder, program, url):
    """All of Tocsin, with this cluster and no other."""
    (folder / "mcp").mkdir()
    settings = {
        "TOCSIN_MCP_SERVERS": str(servers(folder / "mcp", program, url)),
        "TOCSIN_MCP_PINS": str(folder / "mcp" / "pins.json"),
        "TOCSIN_MCP_TRUST_FIRST": "true",
        "TOCSIN_CLUSTER_SERVERS": json.dumps({CLUSTER: "kubernetes"}),
        "TOCSIN_CLUSTER_SNAPSHOT": str(folder / "nowhere"),
    }
    async with pipeline(folder, settings=settings) as running:
        yield running


async def test_an_alert_on_a_living_cluster_becomes_a_plan_and_no_secret_is_read(
    tmp_path, kubernetes_program
):
    api = cluster()
    with serving(api) as url:
        async with living(tmp_path, kubernetes_program, url) as running:
            receipt = await running.fire()
            run = await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
            facts = await running.facts()
    (formed,) = [fact for fact in facts if isinstance(fact, HypothesisFormed)]
    seen = formed.hypothesis.evidence
    assert formed.hypothesis.finding.cause is CauseClass.OOM_KILLED_LIMIT_TOO_LOW
    assert {one.source for one in seen if one.kind is EvidenceKind.POD} == {"mcp:kubernetes"}
    assert run.plan is not None
    assert [path for path in api.asked if "secrets" in path or "roles" in path] == []
    assert {path.split()[0] for path in api.asked if "accessreviews" not in path} == {"GET"}
    said = "".join(fact.model_dump_json() for fact in facts) + "".join(running.log)
    assert (PASSWORD in said, TOKEN in said) == (False, False)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("false", "MCP server 'kubernetes' is away"),
        ("the real one", "connection refused"),
    ],
)
async def test_a_cluster_that_cannot_be_asked_is_escalated_as_not_seen_and_never_as_healthy(
    tmp_path, kubernetes_program, program, why
):
    program = program if program == "false" else kubernetes_program
    async with living(tmp_path, program, "http://127.0.0.1:9") as running:
        receipt = await running.fire()
        run = await running.reach(receipt.run_id, RunState.ESCALATED)
    assert "The cluster was not seen, so nobody knows how it is" in run.ended
    assert why in run.ended
    assert run.plan is None
    assert running.written == proof.Written((), ())
