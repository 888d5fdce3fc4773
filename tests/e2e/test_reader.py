"""kubeconfig.sh prints how the reader reaches the cluster of the current context."""

import base64
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tocsin_testing.kube_api import KubeApi, kubeconfig, serving

SCRIPT = Path(__file__).parents[2] / "deploy" / "k8s" / "reader" / "kubeconfig.sh"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="NOT TESTED without kubectl"),
]


def printed(folder, **data):
    metadata = {"name": "tocsin-reader", "namespace": "tocsin"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    with serving(KubeApi([secret])) as url:
        here = {"KUBECONFIG": str(kubeconfig(url, folder / "kubeconfig")), "HOME": str(folder)}
        done = subprocess.run(
            ["sh", SCRIPT], capture_output=True, text=True, check=False, env=os.environ | here
        )
    return url, done


def test_the_kubeconfig_holds_the_readers_token_and_nobody_elses(tmp_path):
    token = base64.b64encode(b"of-the-reader").decode()
    url, done = printed(tmp_path, token=token, **{"ca.crt": "Y2E="})
    config = yaml.safe_load(done.stdout)
    assert done.returncode == 0, done.stderr
    assert config["users"] == [{"name": "reader", "user": {"token": "of-the-reader"}}]
    cluster = {"server": url, "certificate-authority-data": "Y2E="}
    assert config["clusters"] == [{"name": "cluster", "cluster": cluster}]


def test_without_a_token_nothing_is_printed(tmp_path):
    _, done = printed(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "try again" in done.stderr
