"""What is worked out here is what Helm makes, and what an edit leaves alone stays to the byte."""

import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import FieldChange, ObjectRef, Place, SourceKind
from tocsin_gitops import locate
from tocsin_gitops.editing import apply
from tocsin_gitops.helm import plain
from tocsin_gitops.helm.chart import Chart, Release
from tocsin_gitops.located import Located, NotLocated

CHARTS = Path(__file__).parent / "charts"
FOLLOWED = (
    *("web", "images", "worker", "cron", "store", "scaled", "configured", "ported"),
    *("templated", "several", "guarded"),
)


def files_of(name):
    folder = CHARTS / name
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(CHARTS)): path.read_bytes() for path in found}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_is_what_helm_makes(name, helm):
    files = files_of(name)
    values = plain.mapping(files[f"{name}/values.yaml"])
    made = Chart(name, files).render(values, Release("pay", "shop")).made
    command = (helm, "template", "pay", str(CHARTS / name), "--namespace", "shop")
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    real = [one for one in yaml.safe_load_all(printed) if one]
    for one in made:
        hidden = "<" in str(one.tree) or "checksum" in str(one.tree)
        assert one.tree in real or hidden


@st.composite
def values_of_web(draw):
    """The values of web with comments, gaps, quotes and an order of somebody else."""
    filler = st.sampled_from(["", "# so\n", "\n", "# a: b\n\n"])
    blocks = [
        f"replicaCount: {draw(st.integers(1, 9))}{draw(st.sampled_from(['', ' # many']))}\n",
        "image:\n  repository: ghcr.io/shop/web\n  tag: '1.2'\n  pullPolicy: Always\n",
        "service: {type: ClusterIP, port: 80}\n",
        "livenessProbe:\n    httpGet: {path: /, port: http}\n",
        "resources:\n  limits:\n    memory: 128Mi # tight\n",
        "other: [1, 'two', {three: 3}]\n",
    ]
    lines = [text for block in draw(st.permutations(blocks)) for text in (draw(filler), block)]
    text = "".join(lines)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@settings(max_examples=25, deadline=None)
@given(values_of_web(), st.integers(10, 99))
def test_an_edit_changes_the_bytes_of_its_value_and_no_other(text, wanted):
    files = files_of("web") | {"web/values.yaml": text.encode()}
    held = plain.mapping(text.encode())["replicaCount"]
    change = FieldChange(
        object=ObjectRef(kind="Deployment", namespace="shop", name="pay-web"),
        path=("spec", "replicas"),
        old=held,
        new=wanted,
    )
    where = {"host": "local", "repo": "shop/gitops", "revision": "main", "release": "pay"}
    place = Place(**where, by="Application argocd/pay", path="web", kind=SourceKind.HELM)
    found = locate.locate(files, change, place)
    assert isinstance(found, Located)
    after = apply(files, (found.edit,))
    line = f"replicaCount: {held}"
    assert after == {"web/values.yaml": text.replace(line, f"replicaCount: {wanted}").encode()}


TEMPLATE = (CHARTS / "web" / "templates" / "deployment.yaml").read_text(encoding="utf-8")
PIECES = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "{{- end }}",
            "{{ .Values }}",
            "{{ if }}",
            "(",
            ")",
            "|",
            '"',
            "\n",
            "- ",
            ": ",
        ),
        *(
            "{{ define }}",
            "{{ range .Values.image }}",
            "{{ $x = 1 }}",
            "{{ index . 1 }}",
            "\ue0001\ue001",
        ),
        *("{{ include 1 2 }}", "{{ printf }}", "{{ nindent 4 }}", "{{ dict 1 }}", "{{ default }}"),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(TEMPLATE)), st.integers(0, 40), PIECES)
def test_a_template_that_is_broken_anywhere_is_a_refusal_and_no_fault(at, length, piece):
    files = files_of("web")
    broken = TEMPLATE[:at] + piece + TEMPLATE[at + length :]
    files["web/templates/deployment.yaml"] = broken.encode()
    where = {"host": "local", "repo": "shop/gitops", "revision": "main", "release": "pay"}
    place = Place(**where, by="Application argocd/pay", path="web", kind=SourceKind.HELM)
    ref = ObjectRef(kind="Deployment", namespace="shop", name="pay-web")
    change = FieldChange(object=ref, path=("spec", "replicas"), old=2, new=5)
    answer = locate.locate(files, change, place)
    assert isinstance(answer, Located | NotLocated)
