"""Of a repository of many files only those are parsed that may say something about the object."""

from textwrap import dedent

import pytest

from tocsin_contracts import FieldChange, ObjectRef
from tocsin_gitops import manifests, naming
from tocsin_gitops.locate import Located, locate
from tocsin_gitops.placements import Checkout

API = ObjectRef(kind="Deployment", namespace="prod", name="api")
MEMORY = ("spec", "memory")


def deployment(name: str) -> bytes:
    return f"kind: Deployment\nmetadata: {{name: {name}}}\nspec: {{memory: 1Gi}}\n".encode()


def fleet(prod: str = "", count: int = 40) -> dict[str, bytes]:
    """Many services, of which the kustomizations deploy one each, and the one that is meant."""
    files = {}
    for name in ("api", *(f"other-{number}" for number in range(count))):
        files[f"{name}/d.yaml"] = deployment(name)
        files[f"{name}/kustomization.yaml"] = b"namespace: prod\nresources: [d.yaml]\n"
    files["api/kustomization.yaml"] += dedent(prod).encode()
    return files


def parsed(monkeypatch, files, change) -> set[str]:
    """Return the manifests that were read while a change was located."""
    read, seen = manifests.read, set()

    def noting(file, data):
        if not manifests.is_kustomization(file):
            seen.add(file)
        return read(file, data)

    monkeypatch.setattr(manifests, "read", noting)
    found = locate(files, change)
    assert isinstance(found, Located), found
    return seen


def raised(old: str = "1Gi", name: str = "api") -> FieldChange:
    target = API.model_copy(update={"name": name})
    return FieldChange(object=target, path=MEMORY, old=old, new="4Gi")


def test_only_files_that_name_the_object_are_parsed(monkeypatch):
    assert parsed(monkeypatch, fleet(), raised()) == {"api/d.yaml"}


def test_of_an_object_that_is_renamed_on_its_way_the_old_name_is_looked_for(monkeypatch):
    files = fleet("namePrefix: eu-\nnameSuffix: -x\n")
    assert parsed(monkeypatch, files, raised(name="eu-api-x")) == {"api/d.yaml"}


def test_who_shares_a_patch_is_looked_for_among_those_that_name_it(monkeypatch):
    files = fleet("patches: [{path: p.yaml}]\n")
    files["api/p.yaml"] = deployment("api").replace(b"1Gi", b"2Gi")
    assert parsed(monkeypatch, files, raised("2Gi")) == {"api/d.yaml", "api/p.yaml"}


@pytest.mark.parametrize(
    "text",
    [
        "metadata: {name: api}",
        "metadata:\r\n  name: api\r\n",
        '{"metadata": {"name": "api"}}',
        "metadata: {name: 'api'} # the api",
        'metadata:\n  "name" : "\\x61pi"\n',
        "metadata:\n  name:\n    api\n",
        "metadata:\n  name: &n api\n",
        "metadata:\n  name: !!str api\n",
        "metadata:\n  name: {{ .Release.Name }}\n",
    ],
)
def test_a_name_is_seen_however_it_is_written(text):
    assert naming.may_be_in(text.encode(), "eu-api", renamed=True)


@pytest.mark.parametrize("text", ["metadata: {name: web}", "name: frontend\n", "hostname: *a\n"])
def test_another_name_is_not_it(text):
    assert not naming.may_be_in(text.encode(), "eu-api", renamed=True)


def test_what_leads_to_a_file_is_known_for_all_files_at_once():
    files = fleet(count=3)
    files["all/kustomization.yaml"] = b"resources: [../api, ../other-1]\n"
    checkout = Checkout(files)
    leading = {file: {k.folder for k in checkout.leading_to(file)} for file in files}
    assert leading["api/d.yaml"] == {"api", "all"}
    assert leading["other-0/d.yaml"] == {"other-0"}
    assert leading["all/kustomization.yaml"] == set()
