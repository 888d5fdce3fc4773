"""Settings over HTTP: shown with their origins, changed only where that is safe, and audited."""

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from tocsin_contracts.roles import Role
from tocsin_gateway import config, refusals
from tocsin_gateway.access import Access
from tocsin_gateway.guard import Guard
from tocsin_kit.origins import Explained, Origin
from tocsin_testing.fakes import FakeClock, FakePublisher, outage

TOLD = (
    Explained(variable="TOCSIN_MAX_ATTEMPTS", value="5", origin=Origin.DEFAULT),
    Explained(variable="TOCSIN_LOG_LEVEL", value="INFO", origin=Origin.FLAG, where="--log-level"),
)


class Store:
    """Settings in memory."""

    def __init__(self):
        self.kept = {}

    async def changes(self):
        return dict(self.kept)

    async def set(self, name, change):
        if change is None:
            del self.kept[name]
        else:
            self.kept[name] = change

    async def explained(self):
        return {"rca": TOLD}


class Gateway:
    """The routes over a store in memory."""

    def __init__(self):
        self.bus, self.store = FakePublisher(), Store()
        app = FastAPI()
        app.include_router(config.routes(config.Config(self.store, self.bus, FakeClock())))
        tokens = {role.value: SecretStr(f"token-of-{role}") for role in Role}
        app.add_middleware(Guard, access=Access(tokens, {role.value: role for role in Role}))
        for error, answer in refusals.ANSWERS.items():
            app.add_exception_handler(error, answer)
        self._transport = httpx.ASGITransport(app)

    async def __call__(self, method, role=Role.ADMIN, body=None):
        headers = {"authorization": f"Bearer token-of-{role}"}
        async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
            return await client.request(method, "/api/v1/config", headers=headers, json=body)


@pytest.fixture
def gateway():
    return Gateway()


async def test_a_change_holds_is_audited_and_says_where_it_comes_from(gateway):
    shown = (await gateway("PATCH", body={"max_attempts": 7})).json()
    (event,) = gateway.bus.published
    assert (event.by, event.key, event.before, event.after) == ("admin", "max_attempts", None, "7")
    assert shown["live"]["max_attempts"] == 7
    (attempts, level) = shown["services"]["rca"]
    assert (attempts["value"], attempts["origin"]) == ("7", "live")
    assert attempts["where"].startswith("by admin at ")
    assert (level["value"], level["origin"]) == ("INFO", "flag")


async def test_null_goes_back_and_is_audited_too(gateway):
    await gateway("PATCH", body={"log_level": "DEBUG"})
    shown = (await gateway("PATCH", body={"log_level": None})).json()
    event = gateway.bus.published[-1]
    assert (event.before, event.after) == ('"DEBUG"', None)
    assert shown["services"]["rca"][1]["value"] == "INFO"
    assert gateway.store.kept == {}


async def test_the_same_value_again_changes_nothing_and_is_no_event(gateway):
    for _ in range(2):
        await gateway("PATCH", body={"max_attempts": 7})
    assert len(gateway.bus.published) == 1


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("api_tokens", "secrets are neither shown nor taken"),
        ("approvers", "not by one account"),
        ("quorum", "not by one account"),
        ("api_roles", "not by one account"),
        ("redis_url", "opened at the start"),
        ("concurrency", "read at the start"),
        ("nonsense", "read at the start"),
    ],
)
async def test_every_other_setting_is_refused_and_says_why(gateway, key, why):
    answer = await gateway("PATCH", body={key: "x", "max_attempts": 7})
    assert answer.status_code == 422
    assert key in answer.json()["error"]
    assert why in answer.json()["error"]
    assert (gateway.bus.published, gateway.store.kept) == ([], {})


@pytest.mark.parametrize(
    "wish",
    [{"max_attempts": 0}, {"max_attempts": "many"}, {"log_level": "LOUD"}, {}],
    ids=str,
)
async def test_a_value_that_cannot_be_changes_nothing(gateway, wish):
    assert (await gateway("PATCH", body=wish)).status_code == 422
    assert (gateway.bus.published, gateway.store.kept) == ([], {})


async def test_what_cannot_be_audited_is_not_changed(gateway):
    gateway.bus.down = outage()
    answer = await gateway("PATCH", body={"max_attempts": 7})
    assert answer.status_code == 503
    assert gateway.store.kept == {}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.APPROVER])
async def test_settings_are_for_administrators(gateway, role):
    assert (await gateway("GET", role)).status_code == 403
    assert (await gateway("PATCH", role, {"max_attempts": 7})).status_code == 403
    assert gateway.store.kept == {}
