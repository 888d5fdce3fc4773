"""`tocsin-rca doctor`: whether the models that are set answer, as JSON."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence

from pydantic import RootModel

from tocsin_agents.messages import Message, Role
from tocsin_agents.models import roles
from tocsin_agents.models.port import Model, Question
from tocsin_agents.models.roles import ModelRole
from tocsin_contracts.doctor import Condition, Finding
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_rca.settings import Settings

SECONDS = 30.0
QUESTION = Question(
    messages=(Message(role=Role.USER, text="Answer with the one word: yes."),), most_tokens=16
)
"""As cheap as a question can be."""


def main(arguments: Sequence[str]) -> None:
    """Print what was found; `--no-model` asks nobody, other flags are the service's own."""
    parser = argparse.ArgumentParser(prog="tocsin-rca doctor", description=main.__doc__)
    parser.add_argument("--no-model", action="store_true", help="do not ask a model")
    options, flags = parser.parse_known_args(arguments)
    try:
        settings = Settings.load(flags)
        logging.configure_quietly(settings)
        found = asyncio.run(examine(settings, asks=not options.no_model))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.write(RootModel(found).model_dump_json(indent=2) + "\n")


async def examine(
    settings: Settings,
    *,
    asks: bool,
    model: Callable[[Settings, ModelRole], Model | None] = roles.model,
) -> list[Finding]:
    """Ask each model that has a role one short question."""
    found: dict[tuple[str, ...], Finding] = {}
    for role in ModelRole:
        names = roles.chosen(settings, role)
        if names and names not in found:
            asked = model(settings, role) if asks else None
            found[names] = await _asked(names, asked)
    if not found:
        told = "no model is set: causes are found by rules alone"
        return [_found("models", Condition.OK, told)]
    return list(found.values())


async def _asked(names: Sequence[str], model: Model | None) -> Finding:
    thing = ", ".join(names)
    if model is None:
        return _found(thing, Condition.UNKNOWN, "it was not asked", "leave --no-model out")
    try:
        async with asyncio.timeout(SECONDS):
            answer = await model.answer(QUESTION)
    except TimeoutError:
        return _found(thing, Condition.PROBLEM, f"no answer in {SECONDS:g} s", "look at its server")
    except TransientError as error:
        return _found(thing, Condition.WARNING, str(error), "try again; look at its server")
    except PermanentError as error:
        do = "look at TOCSIN_MODEL, TOCSIN_MODEL_KEYS and TOCSIN_MODEL_URLS"
        return _found(thing, Condition.PROBLEM, str(error), do)
    return _found(thing, Condition.OK, f"{answer.model} answers, with {answer.usage.tokens} tokens")


def _found(thing: str, condition: Condition, told: str, do: str = "") -> Finding:
    return Finding(part="model", thing=thing, condition=condition, told=told, do=do)
