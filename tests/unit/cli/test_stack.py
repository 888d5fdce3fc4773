"""Each service is told what it needs, and no secret of another one."""

import json
import socket
from contextlib import ExitStack

import pytest

from tocsin_cli import stack
from tocsin_cli.stack import Engines
from tocsin_cli.workspace import Tokens, Workspace
from tocsin_kit.errors import PermanentError

TOKENS = Tokens(ingest_token="i-token", api_token="a-token")


def environment(monkeypatch, **given: str) -> dict[str, str]:
    for name in ("TOCSIN_INGEST_PORT", "TOCSIN_LOG_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return stack._environment(
        Engines("nats://n", "redis://r", {}), TOKENS, stack.ports(stack.USUAL_PORTS)
    )


def test_p6_a_secret_is_known_only_to_the_service_that_needs_it(monkeypatch):
    hook = {
        "TOCSIN_NOTIFY_WEBHOOK_URL": "https://chat/w-secret",
        "TOCSIN_SLACK_BOT_TOKEN": "xoxb-secret",
        "TOCSIN_SLACK_APP_TOKEN": "xapp-secret",
        "TOCSIN_SLACK_SIGNING_SECRET": "s-secret",
    }
    agents = {
        "TOCSIN_EXTERNAL_AGENTS": '{"k8s": {"url": "https://a.example", "token": "t-secret"}}'
    }
    known = environment(monkeypatch, TOCSIN_API_TOKEN="mine", **hook, **agents)
    holders = {
        secret: [n for n in stack.SERVICES if secret in str(stack._service(n, known).environment)]
        for secret in ("i-token", "a-token", "mine", "t-secret", *hook.values())
    }
    assert holders == {
        "i-token": ["ingest"],
        "a-token": ["gateway"],
        "mine": [],
        "t-secret": ["rca"],
        **{secret: ["notifier"] for secret in hook.values()},
    }


def test_what_the_user_set_wins(monkeypatch):
    known = environment(monkeypatch, TOCSIN_INGEST_PORT="9999", TOCSIN_LOG_FORMAT="json")
    assert stack._service("ingest", known).ready_url == "http://127.0.0.1:9999/ready"
    assert known["TOCSIN_LOG_FORMAT"] == "json"


def test_on_ones_own_machine_an_mcp_tool_is_trusted_at_first_sight_unless_the_user_says_no(
    monkeypatch,
):
    monkeypatch.delenv("TOCSIN_MCP_TRUST_FIRST", raising=False)
    assert environment(monkeypatch)["TOCSIN_MCP_TRUST_FIRST"] == "true"
    assert environment(monkeypatch, TOCSIN_MCP_TRUST_FIRST="0")["TOCSIN_MCP_TRUST_FIRST"] == "0"


def test_the_local_user_may_approve(monkeypatch):
    known = environment(monkeypatch)
    (holder,) = json.loads(known["TOCSIN_API_TOKENS"])
    assert json.loads(known["TOCSIN_APPROVERS"]) == [holder]
    assert json.loads(known["TOCSIN_API_ROLES"]) == {holder: "admin"}


def test_every_service_gets_a_port_of_its_own_and_a_taken_one_is_left_alone():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = stack.ports({"ingest": port})
    assert set(ports) == {f"TOCSIN_{name.upper()}_PORT" for name in stack.SERVICES}
    assert len({*ports.values(), str(port)}) == len(stack.SERVICES) + 1


def test_a_service_that_is_not_where_people_look_says_so():
    usual = {"TOCSIN_GATEWAY_PORT": "9481", "TOCSIN_NOTIFIER_PORT": "9486"}
    chosen = {"TOCSIN_INGEST_PORT": "1234", **usual}
    said = stack.moved(stack.USUAL_PORTS, chosen, chosen)
    assert said == [("ingest", "another program listens on port 9480; this service takes 1234")]
    own = {"TOCSIN_INGEST_PORT": "9999", **usual}
    assert stack.moved(stack.USUAL_PORTS, chosen, own) == []


def test_a_usual_port_that_is_free_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    assert stack.ports({"gateway": port})["TOCSIN_GATEWAY_PORT"] == str(port)


def test_two_that_insist_on_no_port_stay_out_of_each_others_way():
    taken = {str(port) for port in stack.USUAL_PORTS.values()}
    assert taken & set(stack.ports({}).values()) == set()


def test_each_service_gets_its_own_password_and_the_owners_goes_to_nobody():
    own = {"rca": {"TOCSIN_NATS_URL": "nats://rca:p@n", "TOCSIN_REDIS_URL": "redis://rca:p@r"}}
    engines = Engines("nats://owner:p@n", "redis://owner:p@r", {}, own)
    environment = stack._environment(engines, TOKENS, stack.ports({}))
    service = stack._service("rca", {**environment, **engines.own["rca"]})
    assert "owner:p@" not in str(service.environment)


@pytest.mark.parametrize("named", ["TOCSIN_NATS_URL", "TOCSIN_REDIS_URL"])
def test_servers_of_others_are_not_secured(named, tmp_path, monkeypatch):
    for other in ("TOCSIN_NATS_URL", "TOCSIN_REDIS_URL"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(named, "nats://elsewhere")
    with ExitStack() as servers, pytest.raises(PermanentError, match=named):
        stack._engines(stack.Settings.load(), Workspace(tmp_path), servers, secure=True)
