"""Every backend: its tools ask what its maker documents, and its faults are told plainly."""

import asyncio
import json

import httpx
import pytest
from pydantic import TypeAdapter

from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_kit.errors import PermanentError
from tocsin_rca import backends
from tocsin_rca.backends import Backend, client
from tocsin_testing import recorded
from tocsin_testing.fakes import FakeClock

BACKEND = TypeAdapter(Backend)
TYPES = recorded.names()
USES = [(name, use) for name in TYPES for use in recorded.recording(name).uses]
WHO = Identity("ada")
SECRET = "tulip-7731-rose"
MOST_CHARACTERS = 8000


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("BACKEND_TOKEN", SECRET)


def options(name, **more):
    given = dict(recorded.recording(name).options) | more
    return BACKEND.validate_python(given)


def opened(name, transport, **more):
    clock = FakeClock(recorded.NOW)
    return backends.toolset(name, options(name, **more), set(), clock=clock, transport=transport)


async def called(toolset, use):
    found = {tool.spec.name: tool for tool in await toolset.tools(WHO)}
    return await found[f"{toolset.name}.{use.tool}"].call(use.arguments, ToolContext(WHO))


async def asked(name, respond, **more):
    """Use the first tool of a backend that answers so."""
    toolset = opened(name, httpx.MockTransport(respond), **more)
    return await called(toolset, recorded.recording(name).uses[0])


def test_there_is_a_recording_of_every_type():
    kinds = BACKEND.json_schema()["discriminator"]["mapping"]
    assert len(set(kinds.values())) == len(TYPES)
    assert set(TYPES) <= set(kinds)


@pytest.mark.parametrize("name", TYPES)
async def test_every_tool_is_recorded_and_only_reads(name):
    found = await opened(name, None).tools(WHO)
    used = {f"{name}.{use.tool}" for use in recorded.recording(name).uses}
    assert {tool.spec.name for tool in found} == used
    assert {tool.spec.capability for tool in found} == {Capability.READ}


@pytest.mark.parametrize(("name", "use"), USES, ids=lambda one: getattr(one, "tool", one))
async def test_a_tool_asks_what_is_documented_and_answers_in_a_sentence(name, use):
    transport = recorded.replaying(use, options(name).base)
    answer = await called(opened(name, transport), use)
    assert answer.error == ""
    assert next(iter(answer.data)) == "said"
    assert answer.data["said"].endswith(".")
    assert answer.data.get("link", options(name).page).startswith(options(name).page)
    assert len(json.dumps(answer.data)) < MOST_CHARACTERS


@pytest.mark.parametrize("name", TYPES)
async def test_one_that_is_away_is_an_error_that_may_pass(name):
    def away(request):
        raise httpx.ConnectError("refused", request=request)

    answer = await asked(name, away)
    assert (answer.status, answer.message) == (Status.ERROR, "It may work later.")
    assert name in answer.error


async def test_one_that_does_not_answer_in_time_is_an_error_that_may_pass():
    async def silent(request):
        await asyncio.Event().wait()

    answer = await asked("alertmanager", silent, seconds=0.01)
    assert "no answer in 0.01 s" in answer.error


@pytest.mark.parametrize("name", TYPES)
async def test_what_is_shown_is_in_no_error(name):
    token = {"env": "BACKEND_TOKEN"}
    seen = []

    def refuse(request):
        seen.extend(request.headers.values())
        return httpx.Response(403, text=f"no: {SECRET} is \x1b[31mwrong")

    answer = await asked(name, refuse, token=token)
    assert any(SECRET in text for text in seen)
    assert SECRET not in answer.error
    assert "\x1b" not in answer.error
    assert "`token`" in answer.error


@pytest.mark.parametrize("name", TYPES)
async def test_json_of_another_api_is_an_error_that_says_so(name):
    odd = {"odd": 1, "data": 2, "results": 3, "traces": 4}
    answer = await asked(name, lambda _: httpx.Response(200, json=odd))
    assert "not of this API" in answer.error


@pytest.mark.parametrize(
    ("status", "answered", "told"),
    [
        (302, {"headers": {"location": "https://evil.example"}}, "set `url`"),
        (500, {"text": "oops"}, "it answers 500: oops"),
        (429, {}, "it answers 429"),
        (404, {}, "no such thing"),
        (200, {"text": "<html>Log in</html>"}, "not of this API"),
        (200, {"text": " " * (client.MOST_BYTES + 1)}, "over 4194304 bytes"),
    ],
    ids=["redirect", "500", "429", "404", "html", "big"],
)
async def test_an_answer_that_is_none_says_why(status, answered, told):
    answer = await asked("alertmanager", lambda _: httpx.Response(status, **answered))
    assert answer.status is Status.ERROR
    assert told in answer.error


def test_a_secret_that_is_not_there_stops_the_start(monkeypatch):
    monkeypatch.delenv("BACKEND_TOKEN")
    wanted = {"one": options("alertmanager", token={"env": "BACKEND_TOKEN"})}
    with pytest.raises(PermanentError, match=r"backend 'one'.*'BACKEND_TOKEN' is not set"):
        backends.opened(wanted)


def test_the_secrets_of_backends_are_known_for_masking():
    shown = options("alertmanager", token={"env": "BACKEND_TOKEN"}, user="ana")
    found = backends.opened({"one": shown}).secrets
    assert SECRET in found
    assert len(found) == 2  # as it is, and as HTTP sends it


def test_authorities_that_cannot_be_read_stop_the_start(tmp_path):
    wanted = {"one": options("alertmanager", ca_file=tmp_path / "none.pem")}
    with pytest.raises(PermanentError, match=r"backend 'one': `ca_file`: cannot read"):
        backends.opened(wanted)
