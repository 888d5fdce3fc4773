"""`tocsin resolve`: from the body of a sender to a path, with a real repository and a recording."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

from tocsin_cli.demo import history
from tocsin_testing import build

pytestmark = pytest.mark.e2e

TOCSIN = Path(sysconfig.get_path("scripts")) / "tocsin"
POD = "payments-api-7d9c8b6f5d-x2k9p"
FILES = {
    "apps/payments/base/deployment.yaml": b"kind: Deployment\nmetadata: {name: payments-api}\n",
    "apps/payments/base/kustomization.yaml": b"resources: [deployment.yaml]\n",
    "apps/payments/prod/kustomization.yaml": b"namespace: payments\nresources: [../base]\n",
}
APP = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Application",
    "metadata": {"name": "payments", "namespace": "argocd"},
    "spec": {
        "destination": {"server": "https://kubernetes.default.svc", "namespace": "payments"},
        "source": {
            "repoURL": "git@github.com:shop/platform-gitops.git",
            "path": "apps/payments/prod",
            "targetRevision": "main",
        },
    },
    "status": {
        "sourceType": "Kustomize",
        "resources": [
            {
                "group": "apps",
                "version": "v1",
                "kind": "Deployment",
                "namespace": "payments",
                "name": "payments-api",
                "status": "Synced",
            }
        ],
    },
}


def owned(kind, name, by=""):
    about = {"name": name, "namespace": "payments", "uid": name}
    above, _, called = by.partition("/")
    owners = [{"kind": above, "name": called, "controller": True}] if by else []
    return {"kind": kind, "metadata": {**about, "ownerReferences": owners}}


@pytest.fixture
def folder(tmp_path):
    """A repository, what allows it, a recorded cluster and the body of an alert."""
    history.build(tmp_path / "repo.git", [history.Commit("shop", build.NOW, "Import", FILES)])
    said = {"name": "shop/platform-gitops", "git_dir": "repo.git", "paths": ["apps/**"]}
    (tmp_path / "gitops.yaml").write_text(yaml.safe_dump({"repositories": [said]}))
    (tmp_path / "bundle").mkdir()
    objects = [
        APP,
        owned("Pod", POD, "ReplicaSet/payments-api-7d9c8b6f5d"),
        owned("ReplicaSet", "payments-api-7d9c8b6f5d", "Deployment/payments-api"),
        owned("Deployment", "payments-api"),
    ]
    (tmp_path / "bundle/all.yaml").write_text(yaml.safe_dump_all(objects))
    labels = {"alertname": "KubePodCrashLooping", "namespace": "payments", "pod": POD}
    body = {"status": "firing", "labels": labels}
    (tmp_path / "alert.json").write_text(json.dumps(body))
    return tmp_path


def resolved(folder, *flags):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOCSIN_")}
    return subprocess.run(
        [TOCSIN, "resolve", "alert.json", *flags],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )


def test_an_alert_about_a_pod_leads_to_the_folder_that_argo_cd_deploys(folder):
    told = resolved(folder, "--snapshot", "bundle", "--json")
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout)
    assert (answer["repo"], answer["place"]["path"]) == (
        "shop/platform-gitops",
        "apps/payments/prod",
    )
    assert answer["object"]["kind"] == "Deployment"
    assert set(answer["files"]) == set(FILES)
