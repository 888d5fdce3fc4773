"""Which model does what, and that no test can ask one that somebody pays for."""

import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import SecretStr

from tocsin_agents import models
from tocsin_agents.messages import Message, Role
from tocsin_agents.models import roles
from tocsin_agents.models.access import LOCAL_ONLY, Access, Patience
from tocsin_agents.models.litellm_client import LiteLlm
from tocsin_agents.models.port import ModelRefusedError, Question
from tocsin_agents.models.roles import ModelRole
from tocsin_agents.models.settings import ModelSettings
from tocsin_kit.errors import PermanentError

QUESTION = Question(messages=(Message(role=Role.USER, text="why?"),))
SOURCES = Path(models.__file__).parents[5]


class Settings(ModelSettings):
    service: ClassVar[str] = "rca"


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch):
    for name in ModelSettings.model_fields:
        monkeypatch.delenv(f"TOCSIN_{name.upper()}", raising=False)


def test_without_a_model_there_is_none_and_nothing_is_missing():
    settings = Settings(model_fallbacks=("b/b",))
    assert [roles.model(settings, role) for role in ModelRole] == [None, None]


def test_a_role_takes_its_own_model_or_the_one_for_all():
    settings = Settings(model="a/a", model_chat="c/c")
    assert roles.chosen(settings, ModelRole.RCA) == ("a/a",)
    assert roles.chosen(settings, ModelRole.CHAT) == ("c/c",)


def test_fallbacks_follow_and_no_model_is_asked_twice():
    settings = Settings(model="a/a", model_fallbacks=("b/b", "a/a"))
    assert roles.chosen(settings, ModelRole.RCA) == ("a/a", "b/b")


@pytest.mark.parametrize("role", ModelRole)
def test_every_role_has_its_setting(role):
    settings = Settings(model="a/a", **{f"model_{role}": "own/own"})
    assert roles.model(settings, role).name == "own/own"


async def test_the_price_of_a_role_is_that_of_the_model_that_is_asked_first():
    prices = {"a/a": {"input": 1, "output": 2}, "b/b": {"input": 3, "output": 4}}
    settings = Settings(model="a/a", model_fallbacks=("b/b",), model_prices=prices)
    assert (await roles.model(settings, ModelRole.RCA).price()).input == Decimal(1)


@pytest.mark.parametrize("name", ["gpt-5", "/x", "openai/"])
def test_a_name_without_its_provider_stops_the_service_with_an_example(name):
    with pytest.raises(PermanentError, match="write provider/name, such as"):
        roles.model(Settings(model=name), ModelRole.RCA)


def test_prices_and_keys_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TOCSIN_MODEL_PRICES", '{"a/a": {"input": "0.1", "output": 2}}')
    monkeypatch.setenv("TOCSIN_MODEL_KEYS", '{"a": "canary-0123456789"}')
    settings = Settings.load()
    assert settings.model_prices["a/a"].input == Decimal("0.1")
    assert settings.model_keys["a"].get_secret_value() == "canary-0123456789"
    assert "canary" not in repr(settings)


def test_an_address_that_is_none_stops_the_service(monkeypatch):
    monkeypatch.setenv("TOCSIN_MODEL_URLS", '{"openai": "http://[::1"}')
    with pytest.raises(PermanentError, match=r"settings of rca: model_urls\.openai"):
        Settings.load()


def test_every_setting_says_what_it_is_for():
    assert [n for n, field in ModelSettings.model_fields.items() if not field.description] == []


@pytest.mark.parametrize(
    "url", ["", "http://models.example:8000/v1", "http://127.0.0.1.example/v1", "http://[::2]/v1"]
)
async def test_no_test_can_ask_a_model_beyond_this_machine(url):
    """The switch is set for all tests; not even the library is loaded."""
    model = LiteLlm("openai/gpt-x", Access(SecretStr("key"), url), Patience())
    before = "litellm" in sys.modules
    with pytest.raises(ModelRefusedError, match=LOCAL_ONLY):
        await model.answer(QUESTION)
    assert ("litellm" in sys.modules) == before


def test_one_file_knows_the_library():
    pattern = re.compile(r"^\s*(?:import|from) litellm|import_module\(.litellm", re.MULTILINE)
    sources = (path for tree in ("libs", "services") for path in (SOURCES / tree).rglob("*.py"))
    knowing = [path.name for path in sources if pattern.search(path.read_text(encoding="utf-8"))]
    assert knowing == ["litellm_client.py"]
