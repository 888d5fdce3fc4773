"""What others send as a bundle may be made to do harm."""

import json
import os
import time

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.sanity import DEEPEST, is_sane
from tocsin_cluster.snapshot import LONGEST_LOG, SnapshotCluster
from tocsin_contracts import ObjectRef

WEB = ObjectRef(kind="ConfigMap", namespace="shop", name="web")
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n"
BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]\n" for n in range(10))


def nested(levels):
    found = "x"
    for _ in range(levels):
        found = [found]
    return found


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "bundle"
    inside.mkdir()
    (inside / "web.yaml").write_text(HEAD)
    return inside


@pytest.fixture
def outside(tmp_path):
    file = tmp_path / "outside.txt"
    file.write_text("$ kubectl get pods -n shop\nnot meant for anybody")
    return file


@pytest.mark.parametrize("name", ["bomb.yaml", "index.yaml"])
def test_aliases_that_stand_for_a_world_of_text_are_refused_before_they_are_written_out(
    folder, name
):
    (folder / name).write_text(f"{HEAD}{BOMB}files: *a9\n")
    with pytest.raises(ClusterError, match=name):
        SnapshotCluster(folder)


def test_what_holds_itself_is_refused(folder):
    (folder / "self.yaml").write_text(f"{HEAD}data: &a\n  b: *a\n")
    with pytest.raises(ClusterError, match=r"self\.yaml"):
        SnapshotCluster(folder)


async def test_a_few_aliases_as_people_use_them_are_read(folder):
    (folder / "web.yaml").write_text(f"{HEAD}data: &a {{b: c}}\nbinaryData: *a\n")
    seen = await SnapshotCluster(folder).get(WEB)
    assert seen.dig("binaryData", "b") == "c"


@pytest.mark.parametrize("levels", [DEEPEST + 1, 400, 5000])
@pytest.mark.parametrize("name", ["deep.yaml", "deep.json"])
def test_what_is_nested_without_end_is_refused_and_named(folder, name, levels):
    deep = "[" * levels + "]" * levels
    (folder / name).write_text(f'{{"kind": "ConfigMap", "metadata": {{"name": "x"}}, "d": {deep}}}')
    with pytest.raises(ClusterError, match=name.replace(".", r"\.")):
        SnapshotCluster(folder)


def test_a_document_is_sane_up_to_its_limit():
    assert is_sane(nested(DEEPEST))
    assert not is_sane(nested(DEEPEST + 1))
    assert is_sane([list(range(100_000))])


@pytest.mark.parametrize("document", ["x", None, [], {}])
def test_a_document_that_holds_nothing_is_sane(document):
    assert is_sane(document)


def test_a_date_that_there_is_not_is_refused_and_named(folder):
    (folder / "date.yaml").write_text(f"{HEAD}data: 9999-99-99\n")
    with pytest.raises(ClusterError, match=r"date\.yaml"):
        SnapshotCluster(folder)


async def test_an_event_about_nothing_that_can_be_read_is_about_nothing(folder):
    (folder / "event.yaml").write_text(
        "kind: Event\nmetadata: {name: e, namespace: shop}\ninvolvedObject: web\nmessage: [x]\n"
    )
    (event,) = await SnapshotCluster(folder).events_in("shop")
    assert event.about.name == ""


@pytest.mark.parametrize("name", ["evil.txt", "evil.yaml", "kubectl get pods"])
async def test_a_link_that_leads_out_of_the_bundle_is_not_followed(folder, outside, name):
    (folder / name).symlink_to(outside)
    assert await SnapshotCluster(folder).printed() == ()


@pytest.mark.parametrize("linked", ["logs", "logs/shop", "logs/shop/web-1", "the log"])
async def test_a_log_out_of_the_bundle_is_not_read(folder, tmp_path, linked):
    real = tmp_path / "elsewhere" / "shop" / "web-1"
    real.mkdir(parents=True)
    (real / "app.log").write_text("not meant for anybody")
    wanted = "logs/shop/web-1/app.log" if linked == "the log" else linked
    link = folder / wanted
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to((tmp_path / "elsewhere").joinpath(*wanted.split("/")[1:]))
    assert await SnapshotCluster(folder).logs("shop", "web-1", "app") is None


async def test_links_inside_the_bundle_are_followed(folder):
    (folder / "real.txt").write_text("$ kubectl get pods -n shop\nx")
    (folder / "again.txt").symlink_to("real.txt")
    assert len(await SnapshotCluster(folder).printed()) == 2


async def test_a_link_that_leads_to_itself_hides_nothing_else(folder):
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    (folder / "circle").symlink_to(folder)
    assert await SnapshotCluster(folder).get(WEB)


async def test_what_is_no_file_is_not_opened(folder):
    os.mkfifo(folder / "pipe.txt")
    os.mkfifo(folder / "pipe.yaml")
    assert await SnapshotCluster(folder).get(WEB)


async def test_of_a_log_without_end_the_beginning_and_the_end_are_read(folder):
    log = folder / "logs" / "shop" / "web-1" / "app.log"
    log.parent.mkdir(parents=True)
    with log.open("wb") as file:
        file.write(b"first\n")
        file.truncate(100_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast")
    read = await SnapshotCluster(folder).logs("shop", "web-1", "app")
    assert (read[:5], read[-4:]) == ("first", "last")
    assert len(read) < 2 * LONGEST_LOG


async def test_names_that_no_file_should_have_are_read_all_the_same(folder):
    for name in ("kubectl get\npods -n shop.txt", "名前\u202etxt.txt", os.fsdecode(b"bad\xff.txt")):
        (folder / name).write_text("x")
    assert len(await SnapshotCluster(folder).printed()) == 3


async def test_a_question_to_a_bundle_of_thousands_of_files_takes_a_moment(folder):
    for number in range(1000):
        (folder / f"{number}.md").write_text("")
    cluster = SnapshotCluster(folder)
    began = time.process_time()
    for _ in range(10):
        await cluster.get(WEB)
    assert time.process_time() - began < 1


async def test_ten_thousand_objects_as_json_are_read_in_seconds(folder):
    items = [{"kind": "ConfigMap", "metadata": {"name": f"c{n}"}} for n in range(10_000)]
    (folder / "all.json").write_text(json.dumps({"kind": "List", "items": items}))
    began = time.process_time()
    SnapshotCluster(folder)
    assert time.process_time() - began < 4


async def test_what_contradicts_its_key_is_left_out_and_what_people_name_is_kept(folder):
    pod = {
        "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"env": "prod"}},
        "spec": {
            "containers": [{"name": "app", "env": "x", "ports": [1, {"containerPort": 80}]}, 7],
            "nodeSelector": "x",
            "volumes": None,
            "unknown": [1],
        },
        "status": [],
    }
    (folder / "pod.json").write_text(json.dumps(pod))
    ref = ObjectRef(kind="Pod", namespace="shop", name="web-1")
    seen = await SnapshotCluster(folder).get(ref)
    assert seen.labels == {"env": "prod"}
    assert seen.raw["spec"] == {
        "containers": [{"name": "app", "ports": [{"containerPort": 80}]}],
        "volumes": None,
        "unknown": [1],
    }
    assert "status" not in seen.raw


async def test_an_object_whose_shape_is_not_the_apis_is_kept_as_it_is(folder):
    release = {"kind": "HelmRelease", "metadata": {"name": "web"}, "spec": {"env": "prod"}}
    (folder / "release.json").write_text(json.dumps(release))
    seen = await SnapshotCluster(folder).get(ObjectRef(kind="HelmRelease", name="web"))
    assert seen.dig("spec", "env") == "prod"


async def test_the_status_of_a_condition_is_kept(folder):
    ready = [{"type": "Ready", "status": "True"}]
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": ready}}
    (folder / "node.json").write_text(json.dumps(node))
    seen = await SnapshotCluster(folder).get(ObjectRef(kind="Node", name="n1"))
    assert seen.dig("status", "conditions") == ready
