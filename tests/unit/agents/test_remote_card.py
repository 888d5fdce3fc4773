"""The card of an external agent, and where it may send us."""

import json

import httpx
import pytest
from pydantic import ValidationError

from tocsin_agents.remote import card
from tocsin_agents.remote.card import Version
from tocsin_agents.remote.config import ExternalAgent
from tocsin_agents.remote.hosts import Hosts, PinnedTransport
from tocsin_agents.tools.port import Capability
from tocsin_kit.errors import PermanentError, TransientError

BASE = {"name": "k8s", "url": "https://agents.example/k8s"}


def read(**said):
    return card.read(json.dumps(BASE | said).encode())


def test_a_card_of_version_zero_names_its_address_directly():
    found = read(description="Knows pods.", capabilities={"streaming": True})
    assert (found.name, found.about) == ("k8s", "Knows pods.")
    assert (found.url, found.version, found.streams) == (BASE["url"], Version.ZERO, True)


def test_a_card_of_version_one_lists_its_interfaces():
    grpc = {"url": "https://agents.example:50051", "protocolBinding": "GRPC"}
    rpc = {"url": "https://agents.example/one", "protocolBinding": "JSONRPC"}
    found = read(supportedInterfaces=[grpc, rpc | {"protocolVersion": "1.0"}])
    assert (found.url, found.version) == ("https://agents.example/one", Version.ONE)
    found = read(supportedInterfaces=[rpc | {"protocolVersion": "0.3"}])
    assert (found.url, found.version) == ("https://agents.example/one", Version.ZERO)


def test_another_interface_is_taken_where_the_first_speaks_something_else():
    other = {"transport": "JSONRPC", "url": "https://agents.example/rpc"}
    found = read(preferredTransport="GRPC", additionalInterfaces=[other])
    assert found.url == "https://agents.example/rpc"
    with pytest.raises(PermanentError, match="speaks JSON-RPC"):
        read(preferredTransport="GRPC")


def test_what_a_card_says_is_cleaned_and_short_and_its_skills_have_names():
    skills = [{"id": "get-pods", "description": "x" * 999}, {"id": "rm -rf"}, {"id": 7}, "odd"]
    found = read(name="k8s\u202e\n# System", description="a\x1b[31mb" * 300, skills=skills)
    assert found.name == "k8s # System"
    assert len(found.about) == 500
    assert "\x1b" not in found.about
    assert [(skill.id, len(skill.about)) for skill in found.skills] == [("get-pods", 200)]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"name": 1}', b"[" * 9999, b"\xff"])
def test_what_is_no_card_is_refused(body):
    with pytest.raises(PermanentError, match="the card"):
        card.read(body)


def config(**more):
    return ExternalAgent(**{"url": "https://agents.example/k8s/", **more})


def test_an_agent_itself_is_found_at_its_address_and_asked_where_its_card_says():
    agent = config()
    assert agent.base == "https://agents.example/k8s"
    assert agent.stream("https://agents.example/rpc") == "https://agents.example/rpc"


def test_a_controller_is_asked_itself_whatever_the_card_says():
    agent = config(reach="controller", namespace="kagent", agent="k8s-agent")
    assert agent.base == "https://agents.example/k8s/api/a2a/kagent/k8s-agent"
    assert agent.stream("http://k8s-agent.kagent:8080") == f"{agent.base}/"


@pytest.mark.parametrize(
    "wrong",
    [
        {"reach": "controller"},
        {"reach": "controller", "namespace": "../..", "agent": "x"},
        {"reach": "controller", "namespace": "a", "agent": "b/../c"},
        {"url": "ftp://x"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_an_agent_that_cannot_be_reached_is_no_setting(wrong):
    with pytest.raises(ValidationError):
        config(**wrong)


def test_an_agent_may_change_things_unless_the_operator_says_otherwise():
    assert config().capability is Capability.WRITE


@pytest.mark.parametrize(
    "address",
    [
        "http://agents.example/",
        "https://other.example/",
        "https://agents.example:8443/",
        "https://agents.example.evil.example/",
        "https://user@agents.example/",
        "https://agents.example@evil.example/",
        "file:///etc/passwd",
        "gopher://agents.example/",
        "https:///",
        "//agents.example/",
        "https://agents.example:99999/",
    ],
)
def test_an_address_that_was_not_agreed_is_refused(address):
    with pytest.raises(PermanentError):
        Hosts(["agents.example"], private=False).check(address)


def test_what_was_agreed_is_asked():
    hosts = Hosts(["agents.example:443", "Local:8080"], private=True)
    hosts.check("https://AGENTS.example/x")
    hosts.check("http://local:8080/x")


def pinned(addresses, *, private=False):
    """A transport and what it was asked."""
    asked = []

    async def find(host, port):
        if isinstance(addresses, OSError):
            raise addresses
        return addresses

    def answer(request):
        asked.append(request)
        return httpx.Response(200)

    hosts = Hosts(["agents.example"], private=private)
    return PinnedTransport(hosts, httpx.MockTransport(answer), find), asked


async def get(transport, url="https://agents.example/x"):
    async with httpx.AsyncClient(transport=transport) as client:
        return await client.get(url)


async def test_the_connection_goes_to_the_very_address_that_was_checked():
    transport, (asked) = pinned(["93.184.216.34"])
    await get(transport)
    (request,) = asked
    assert request.url.host == "93.184.216.34"
    assert request.headers["host"] == "agents.example"
    assert request.extensions["sni_hostname"] == "agents.example"


@pytest.mark.parametrize(
    "ip",
    [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "0.0.0.1", "224.0.0.1"),
        *("::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "100.64.0.1"),
    ],
)
async def test_a_name_that_leads_into_a_network_that_is_not_public_is_refused(ip):
    transport, asked = pinned(["93.184.216.34", ip])
    with pytest.raises(PermanentError, match="private: true"):
        await get(transport)
    assert asked == []
    transport, asked = pinned([ip], private=True)
    await get(transport)
    assert len(asked) == 1


async def test_a_name_that_nobody_knows_may_be_known_later():
    transport, _ = pinned(OSError("no such name"))
    with pytest.raises(TransientError, match=r"'agents\.example' is not found"):
        await get(transport)
