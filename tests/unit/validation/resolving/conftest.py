"""A desk where one question after another is put: repositories, clusters, and who deploys what."""

from pathlib import Path

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_contracts import ObjectRef, RunId, Workload
from tocsin_gitops.config import DeployedCluster, GitOps, Repository
from tocsin_testing import build
from tocsin_testing.fixed_cluster import FixedCluster
from tocsin_testing.repositories import FakeRepositories
from tocsin_validation.resolving import Resolver

REPO = "shop/platform-gitops"
OBJECT = ObjectRef(kind="Deployment", namespace="payments", name="payments-api")
PATH = ("spec", "template", "spec", "containers", "[name=api]", "resources", "limits", "memory")
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: payments-api
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: api
          image: ghcr.io/shop/payments:1.4.2
          resources:
            limits:
              memory: 128Mi
"""


class NamedViews:
    """Clusters by name; one that was not put there cannot be looked at."""

    def __init__(self):
        self.views = {}

    def named(self, cluster):
        if cluster not in self.views:
            raise ClusterError(f"the cluster {cluster!r} is not connected")
        return self.views[cluster]


class Desk:
    """Resolves the memory limit of a Deployment of the cluster `prod`, as a test sets it up."""

    deployment = DEPLOYMENT

    def __init__(self):
        self.repositories = FakeRepositories()
        self.clusters = NamedViews()
        self.allowed = []
        self.known = []
        self.shows()

    def repository(self, name=REPO, files=None, **fields):
        where = {"git_dir": Path("none.git")} if fields.get("host") == "local" else {}
        given = {"host": "github.com", "paths": ("**",), **where, **fields}
        self.allowed.append(Repository(name=name, **given))
        self.repositories.commit(name, files or {"apps/payments/deployment.yaml": DEPLOYMENT})

    def shows(self, *objects, cluster="prod", denied=(), **about):
        """Let a cluster show the Deployment, with labels and annotations, and further objects."""
        live = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "payments-api", "namespace": "payments", "uid": "u1", **about},
            "spec": {"replicas": 2},
        }
        self.clusters.views[cluster] = FixedCluster([live, *objects], denied)

    def names(self, cluster, server="", argo=""):
        self.known.append(DeployedCluster(name=cluster, server=server, argo=argo))

    async def resolve(
        self, cluster="prod", old="128Mi", path=PATH, new="256Mi", ties=None, **labels
    ):
        workload = Workload(cluster=cluster, namespace="payments", name="payments-api")
        alert = build.alert(workload=workload, labels=labels)
        change = build.field_change(object=OBJECT, path=path, old=old, new=new)
        finding = build.finding(object=OBJECT, change=change)
        gitops = GitOps(repositories=tuple(self.allowed), clusters=tuple(self.known))
        resolver = Resolver(gitops, self.repositories, self.clusters, ties)
        return await resolver.resolve(alert, finding, RunId(build.RUN))


@pytest.fixture
def desk():
    return Desk()
