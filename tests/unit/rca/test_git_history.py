import subprocess

import pytest

from tocsin_contracts import ObjectRef
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.source import LocalGitSource
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.collectors.repository import find_mentions

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
APP = ("spec", "template", "spec", "containers", "[name=app]")

BASE = """\
# the shop's front
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: app
          image: reg.example/shop/web:1.0
"""
PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: app, resources: {limits: {memory: %s}}}]}}}
"""
OVERLAY = """\
namespace: %s
resources: [../../base]
patches:
- path: memory.yaml
images:
- name: reg.example/shop/web
  newTag: "%s"
"""


def tree(prod_memory="512Mi", staging_memory="512Mi", prod_tag="1.0"):
    return {
        "base/web.yaml": BASE,
        "base/kustomization.yaml": "resources: [web.yaml]\n",
        "prod/web/kustomization.yaml": OVERLAY % ("shop", prod_tag),
        "prod/web/memory.yaml": PATCH % prod_memory,
        "staging/web/kustomization.yaml": OVERLAY % ("shop-staging", "0.9"),
        "staging/web/memory.yaml": PATCH % staging_memory,
        "charts/web/templates/web.yaml": "kind: Deployment\nname: {{ .Values.name }} web\n",
    }


@pytest.fixture
def repository(tmp_path):
    """Commit one tree of files after the other to a new repository."""
    work = tmp_path / "work"

    def git(*args):
        identity = ("-c", "user.name=shop-team", "-c", "user.email=shop-team@localhost")
        subprocess.run(["git", *identity, *args], cwd=work, check=True, capture_output=True)

    def commit(*trees):
        work.mkdir()
        git("init", "-q", "-b", "main")
        for number, files in enumerate(trees):
            for name, text in files.items():
                path = work / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            git("add", "-A")
            date = f"2026-03-0{number + 1}T09:00:00Z"
            subject = f"change {number}"
            git("-c", "core.hooksPath=/dev/null", "commit", "-qm", subject, "--date", date)
        return Repository(name="shop/gitops", git_dir=work / ".git", paths=("**",))

    return commit


async def changes(repository, target=WEB, **options):
    history = GitHistory(LocalGitSource(), GitOps(repositories=(repository,)))
    return await history.recent_changes(target, cluster="", limit=options.get("limit", 10))


async def test_a_patch_of_the_overlay_is_a_change_of_the_object(repository):
    (change,) = await changes(repository(tree(), tree(prod_memory="128Mi")))
    assert (change.file, change.author, change.subject) == (
        "prod/web/memory.yaml",
        "shop-team",
        "change 1",
    )
    (field,) = change.fields
    assert field.path == (*APP, "resources", "limits", "memory")
    assert (field.before, field.after) == ("512Mi", "128Mi")
    assert (field.document.kind, field.document.name) == ("Deployment", "web")


async def test_a_tag_that_a_kustomization_sets_is_shown_at_the_container(repository):
    (change,) = await changes(repository(tree(), tree(prod_tag="1.1")))
    assert change.file == "prod/web/kustomization.yaml"
    (field,) = change.fields
    assert (field.document, field.path) == (WEB, (*APP, "image"))
    assert (field.before, field.after) == ("reg.example/shop/web:1.0", "reg.example/shop/web:1.1")


async def test_what_another_namespace_gets_is_no_change_of_the_object(repository):
    assert await changes(repository(tree(), tree(staging_memory="64Mi"))) == ()


async def test_a_change_of_the_base_reaches_every_overlay(repository):
    later = tree() | {"base/web.yaml": BASE.replace("1.0", "1.2")}
    (change,) = await changes(repository(tree(), later))
    assert change.fields[0].after == "reg.example/shop/web:1.2"


async def test_comments_and_order_are_no_changes(repository):
    later = tree() | {"base/web.yaml": "# moved\n" + BASE.replace("# the shop's front\n", "")}
    assert await changes(repository(tree(), later)) == ()


async def test_the_newest_commit_comes_first_and_the_limit_holds(repository):
    trees = [tree(prod_memory=f"{size}Mi") for size in (512, 256, 128, 64)]
    found = await changes(repository(*trees), limit=2)
    assert [change.fields[0].after for change in found] == ["64Mi", "128Mi"]


async def test_a_repository_that_does_not_serve_the_namespace_is_not_asked(repository):
    served = repository(tree(), tree(prod_memory="128Mi"))
    assert await changes(served.model_copy(update={"namespaces": ("billing",)})) == ()


async def test_an_object_that_no_file_knows_has_no_history(repository):
    assert await changes(repository(tree()), WEB.model_copy(update={"name": "api"})) == ()


async def test_a_tag_is_told_as_it_is_written_and_not_as_a_number(repository):
    plain = {"prod/web/kustomization.yaml": (OVERLAY % ("shop", "1.10")).replace('"', "")}
    (change,) = await changes(repository(tree(prod_tag="1.9"), tree() | plain))
    assert change.fields[0].after == "reg.example/shop/web:1.10"


async def test_a_kustomization_that_cannot_be_read_changes_nothing(repository):
    broken = tree() | {"prod/web/kustomization.yaml": "images: ["}
    assert await changes(repository(broken, tree(prod_tag="1.1"))) == ()


def test_a_namespace_in_the_file_must_be_the_objects_own():
    elsewhere = BASE.replace("name: web\n", "name: web\n  namespace: other\n", 1)
    files = {"web.yaml": elsewhere.encode()}
    assert find_mentions(files, WEB).files == ()


def test_a_file_that_no_kustomization_uses_counts_by_itself():
    mentions = find_mentions({"web.yaml": BASE.encode(), "junk.yaml": b"\tweb: ["}, WEB)
    assert mentions.files == ("web.yaml",)
    assert mentions.images == {(*APP, "image"): "reg.example/shop/web:1.0"}


def test_kustomizations_that_use_each_other_do_not_hang_the_search():
    files = {
        "a/kustomization.yaml": b"resources: [../b, web.yaml]",
        "b/kustomization.yaml": b"resources: [../a]\nnamespace: shop",
        "a/web.yaml": BASE.encode(),
    }
    assert find_mentions(files, WEB).manifests == ("a/web.yaml",)


async def test_a_new_image_of_a_kustomization_replaces_what_the_base_writes(repository):
    bare = "namespace: shop\nresources: [../../base]\n"
    first = tree() | {"prod/web/kustomization.yaml": bare}
    (change,) = await changes(repository(first, tree(prod_tag="1.1")))
    assert change.fields[0].before == "reg.example/shop/web:1.0"


class Counting:
    """A source that counts how often all files are read."""

    def __init__(self):
        self._source, self.reads = LocalGitSource(), 0

    def __getattr__(self, name):
        return getattr(self._source, name)

    async def files(self, repo, sha):
        self.reads += 1
        return await self._source.files(repo, sha)


async def test_the_files_of_a_commit_are_read_once_for_all_questions(repository):
    source = Counting()
    history = GitHistory(source, GitOps(repositories=(repository(tree()),)))
    for _ in range(2):
        found = await history.declared("shop", ("web",), cluster="", limit=10)
        await history.recent_changes(WEB, cluster="", limit=10)
    assert source.reads == 1
    assert (found[0].file, found[0].manifest.ref) == ("base/web.yaml", WEB)


@pytest.mark.parametrize(("namespace", "count"), [("shop", 1), ("other", 0), ("", 1)])
async def test_only_repositories_that_serve_the_place_declare_anything(
    repository, namespace, count
):
    repo = repository(tree()).model_copy(update={"namespaces": ("shop",)})
    history = GitHistory(LocalGitSource(), GitOps(repositories=(repo,)))
    found = await history.declared(namespace, (), cluster="", limit=10)
    assert min(1, len(found)) == count


@pytest.mark.parametrize(
    "spec",
    [
        "[" * 900 + "]" * 900,
        "".join(
            f"\n  a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]" for n in range(10)
        ),
        "&a {template: *a}",
    ],
    ids=["depth", "aliases", "itself"],
)
def test_a_file_that_is_made_to_do_harm_declares_nothing(spec):
    head = "kind: Deployment\nmetadata: {name: web, namespace: shop}\n"
    files = {"evil.yaml": f"{head}spec: {spec}\n".encode(), "web.yaml": head.encode()}
    assert find_mentions(files, WEB).files == ("web.yaml",)
