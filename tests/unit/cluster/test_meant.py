"""Which clusters an alert may be about."""

import pytest

from tocsin_cluster.clusters import ONLY, NamedClusters, OneCluster, RecordedClusters
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.snapshot import SnapshotCluster


@pytest.fixture
def recorded(tmp_path):
    for name in ("north", "south"):
        (tmp_path / name).mkdir()
    return RecordedClusters(tmp_path)


@pytest.fixture
def living(tmp_path):
    return {name: SnapshotCluster(tmp_path) for name in ("west", "east")}


def test_of_one_cluster_it_is_that_one_whatever_it_is_called(tmp_path):
    only = OneCluster(SnapshotCluster(tmp_path))
    assert list(only.meant("")) == [ONLY]
    assert list(only.meant("prod")) == ["prod"]


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("west", ["west"]),
        ("", ["west", "east", "north", "south"]),
        ("west, north", ["west", "north"]),
        (",west,,west", ["west"]),
        ("south", ["south"]),
    ],
)
def test_of_several_it_is_the_named_ones_or_all(living, recorded, label, names):
    clusters = NamedClusters(living, recorded)
    meant = clusters.meant(label)
    assert list(meant) == names
    assert all(meant[name] is clusters.named(name) for name in names)


async def test_an_unknown_one_is_never_another_one_and_says_why_at_every_question(living):
    meant = NamedClusters(living).meant("west,mars")
    assert list(meant) == ["west", "mars"]
    with pytest.raises(ClusterError, match="the cluster 'mars' is not connected"):
        await meant["mars"].list("Node", "")


async def test_recordings_of_nothing_are_one_that_is_not_seen(tmp_path):
    meant = RecordedClusters(tmp_path).meant("")
    with pytest.raises(ClusterError, match="names no cluster"):
        await meant[ONLY].list("Node", "")
