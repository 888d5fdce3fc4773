"""What deploy/k8s/reader lets Tocsin see is what it asks for, and never a Secret or a right."""

from pathlib import Path

import yaml

from tocsin_cluster.api_versions import API_VERSIONS
from tocsin_testing.kube_api import plural

FOLDER = Path(__file__).parents[3] / "deploy" / "k8s" / "reader"
OBJECTS = {
    one["kind"]: one for one in yaml.safe_load_all((FOLDER / "reader.yaml").read_text("utf-8"))
}
RULES = OBJECTS["ClusterRole"]["rules"]


def group(version):
    return version.rpartition("/")[0]


def test_the_reader_may_see_exactly_what_a_living_cluster_is_asked_for():
    allowed = {
        (one, what) for rule in RULES for one in rule["apiGroups"] for what in rule["resources"]
    }
    asked = {(group(version), plural(kind)) for kind, version in API_VERSIONS.items()}
    assert allowed == asked | {("", "pods/log")}


def test_the_reader_may_change_nothing():
    assert {verb for rule in RULES for verb in rule["verbs"]} == {"get", "list"}


def test_the_rights_go_to_the_reader_alone():
    (subject,) = OBJECTS["ClusterRoleBinding"]["subjects"]
    account = OBJECTS["ServiceAccount"]["metadata"]
    assert (subject["namespace"], subject["name"]) == (account["namespace"], account["name"])
    assert OBJECTS["ClusterRoleBinding"]["roleRef"]["name"] == "tocsin-reader"
