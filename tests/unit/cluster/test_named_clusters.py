"""A cluster is chosen by its name, and no other is ever taken for it."""

import pytest

from tocsin_cluster.clusters import NamedClusters, RecordedClusters, UnseenCluster
from tocsin_cluster.errors import ClusterError

WEST, EAST = UnseenCluster("west"), UnseenCluster("east")


@pytest.fixture
def recorded(tmp_path):
    (tmp_path / "north").mkdir()
    (tmp_path / "north" / "all.yaml").write_text("kind: Node\nmetadata: {name: n1}\n")
    return RecordedClusters(tmp_path)


def test_a_name_finds_its_cluster():
    clusters = NamedClusters({"west": WEST, "east": EAST})
    assert clusters.named("west") is WEST
    assert clusters.named("east") is EAST


def test_an_alert_without_a_name_means_the_only_cluster():
    assert NamedClusters({"west": WEST}).named("") is WEST


def test_a_name_that_is_not_known_is_not_the_only_cluster():
    with pytest.raises(ClusterError, match="'north' is not connected; there is west"):
        NamedClusters({"west": WEST}).named("north")


def test_of_several_clusters_none_is_guessed(recorded):
    with pytest.raises(ClusterError, match="names no cluster"):
        NamedClusters({"west": WEST, "east": EAST}).named("")
    with pytest.raises(ClusterError, match="names no cluster"):
        NamedClusters({"west": WEST}, recorded).named("")


def test_what_is_not_connected_may_be_recorded(recorded):
    clusters = NamedClusters({"west": WEST}, recorded)
    assert clusters.named("north").source == "snapshot"
    with pytest.raises(ClusterError, match="'south'"):
        clusters.named("south")
