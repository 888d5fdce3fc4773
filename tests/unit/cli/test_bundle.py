import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tocsin_cli.app import tree
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef
from tocsin_kit.errors import PermanentError

KUBECTL = """\
#!{python}
import json, sys
words = sys.argv[1:]
meta = {{"name": "web-0", "namespace": "shop"}}
status = {{"containerStatuses": [{{"name": "app", "ready": False, "restartCount": 2}}]}}
if words[:2] == ["get", "pods"]:
    print(json.dumps({{"kind": "PodList", "items": [
        {{"kind": "Pod", "metadata": meta, "status": status}}]}}))
elif words[:2] == ["get", "secrets"]:
    assert "yaml" not in words and "json" not in words
    print("shop db Opaque password user")
elif words[0] == "logs":
    print("before" if "--previous" in words else "now", "token=abcdef123456")
elif words[:2] == ["top", "nodes"]:
    sys.exit("error: Metrics API not available")
else:
    print(json.dumps({{"items": []}}))
"""


@pytest.fixture
def kubectl(tmp_path):
    script = tmp_path / "kubectl"
    script.write_text(KUBECTL.format(python=sys.executable))
    script.chmod(0o755)
    return script


def collect(out: Path, kubectl: Path):
    arguments = ["bundle", "collect", "--out", str(out), "--kubectl", str(kubectl)]
    return CliRunner().invoke(tree(), arguments, catch_exceptions=False)


async def test_what_is_collected_is_a_bundle_without_a_secret(tmp_path, kubectl):
    told = collect(tmp_path / "out", kubectl)
    cluster = SnapshotCluster(tmp_path / "out")
    pod = await cluster.get(ObjectRef(kind="Pod", namespace="shop", name="web-0"))
    assert pod.dig("status", "containerStatuses", 0, "restartCount") == 2
    secret = await cluster.get(ObjectRef(kind="Secret", namespace="shop", name="db"))
    assert secret.raw["data"] == {"password": "", "user": ""}
    assert (await cluster.logs("shop", "web-0", "app")).startswith("now")
    assert (await cluster.logs("shop", "web-0", "app", previous=True)).startswith("before")
    saved = "".join(p.read_text() for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert "abcdef123456" not in saved
    assert "not saved: top nodes: error: Metrics API not available" in told.output


def test_a_folder_that_is_there_is_not_written_to(tmp_path, kubectl):
    with pytest.raises(PermanentError, match="is there already"):
        collect(tmp_path, kubectl)


def test_no_kubectl_is_said(tmp_path):
    with pytest.raises(PermanentError, match=r"there is no .* on PATH; --kubectl says how"):
        collect(tmp_path / "out", tmp_path / "nowhere")
    assert not (tmp_path / "out").exists()


def script(tmp_path: Path, said: str) -> Path:
    path = tmp_path / "kubectl"
    path.write_text(f"#!/bin/sh\n{said}\n")
    path.chmod(0o755)
    return path


def test_a_cluster_that_does_not_answer_is_asked_once_and_leaves_no_folder(tmp_path):
    away = script(tmp_path, 'echo "$@" >> "$0.calls"; echo "Unable to connect" >&2; exit 1')
    with pytest.raises(PermanentError, match=r"does not answer `.*get nodes`: Unable to connect"):
        collect(tmp_path / "out", away)
    assert not (tmp_path / "out").exists()
    assert Path(f"{away}.calls").read_text().splitlines() == ["get nodes -o json"]


def test_a_reason_is_said_once_with_all_that_it_kept_out(tmp_path):
    denied = script(tmp_path, 'echo "Error from server (Forbidden): no" >&2; exit 1')
    with pytest.raises(PermanentError, match="there was nothing to save") as refused:
        collect(tmp_path / "out", denied)
    (_, line) = str(refused.value).splitlines()
    assert line.startswith("not saved: get nodes, get namespaces, ")
    assert line.endswith("top pods --containers -A, top nodes: Error from server (Forbidden): no")


async def test_kubectl_may_have_arguments_and_kinds_that_a_cluster_lacks_are_no_loss(tmp_path):
    lacking = """\
[ "$1 $2" = "--context prod" ] || exit 1
case "$*" in
*template*) ;;
*.*.*) echo "error: the server doesn't have a resource type" >&2; exit 1 ;;
*namespaces*) echo '{"items": [{"kind": "Namespace", "metadata": {"name": "shop"}}]}' ;;
*) echo '{"items": []}' ;;
esac"""
    told = collect(tmp_path / "out", f"{script(tmp_path, lacking)} --context prod")
    assert "not saved" not in told.output
    assert (tmp_path / "out" / "namespaces.json").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path, kubectl):
    (tmp_path / "file").touch()
    with pytest.raises(PermanentError, match=r"cannot write '.*pods\.json'"):
        collect(tmp_path / "file" / "out", kubectl)
