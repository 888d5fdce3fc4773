import pytest

from tocsin_cluster.clusters import RecordedClusters, UnseenCluster
from tocsin_cluster.errors import ClusterError
from tocsin_contracts import ObjectRef

POD = ObjectRef(kind="Pod", namespace="shop", name="web-0")
RECORDED = "{kind: Pod, metadata: {name: web-0, namespace: shop, labels: {in: %s}}}"


@pytest.fixture
def root(tmp_path):
    for name in ("eu", "us"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pods.yaml").write_text(RECORDED % name)
    return tmp_path


async def test_a_name_chooses_the_snapshot(root):
    clusters = RecordedClusters(root)
    for name in ("eu", "us"):
        assert (await clusters.named(name).get(POD)).labels == {"in": name}
    assert clusters.named("eu") is clusters.named("eu")


@pytest.mark.parametrize("name", ["asia", "..", "../eu", "eu/", "/"])
def test_a_name_that_no_snapshot_has_is_refused(root, name):
    with pytest.raises(ClusterError, match="no snapshot of the cluster"):
        RecordedClusters(root).named(name)


def test_without_a_name_only_the_only_one_is_meant(root):
    with pytest.raises(ClusterError, match="names no cluster"):
        RecordedClusters(root).named("")
    (root / "us" / "pods.yaml").unlink()
    (root / "us").rmdir()
    assert RecordedClusters(root).named("")


async def test_a_cluster_that_is_recorded_later_is_found(root):
    clusters = RecordedClusters(root)
    (root / "asia").mkdir()
    assert await clusters.named("asia").get(POD) is None


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ClusterError, match="nowhere"):
        RecordedClusters(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("get", (POD,)),
        ("list", ("Pod", "shop")),
        ("events", (POD,)),
        ("events_in", ("shop",)),
        ("logs", ("shop", "web-0", "app")),
        ("usage", ("shop",)),
        ("printed", ()),
    ],
)
async def test_a_cluster_that_cannot_be_seen_says_why_to_every_question(question, arguments):
    with pytest.raises(ClusterError, match="no way there"):
        await getattr(UnseenCluster("no way there"), question)(*arguments)
