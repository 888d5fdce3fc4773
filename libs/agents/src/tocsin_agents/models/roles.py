"""Which model does what: chosen by settings, or none at all."""

from enum import StrEnum

from tocsin_agents.models.access import Access, Patience
from tocsin_agents.models.fallback import Fallback
from tocsin_agents.models.litellm_client import LiteLlm
from tocsin_agents.models.masking import Masked
from tocsin_agents.models.metering import Metered, OnUsage
from tocsin_agents.models.port import Model
from tocsin_agents.models.retrying import Retrying
from tocsin_agents.models.settings import ModelSettings
from tocsin_kit.errors import PermanentError


class ModelRole(StrEnum):
    """What a model is asked for; each has a setting of its own."""

    RCA = "rca"
    CHAT = "chat"


def chosen(settings: ModelSettings, role: ModelRole) -> tuple[str, ...]:
    """Return the models for a role in the order in which they are asked; none if none is set."""
    own = {ModelRole.RCA: settings.model_rca, ModelRole.CHAT: settings.model_chat}
    first = own[role] or settings.model
    return tuple(dict.fromkeys((first, *settings.model_fallbacks))) if first else ()


def model(
    settings: ModelSettings, role: ModelRole, on_usage: OnUsage | None = None
) -> Model | None:
    """Return the model for a role, retried, metered and with its fallbacks; None if none is set.

    Raises PermanentError for a name that is not `provider/name`.
    """
    models = [_one(settings, name, on_usage) for name in chosen(settings, role)]
    return Fallback(models) if len(models) > 1 else next(iter(models), None)


def _one(settings: ModelSettings, name: str, on_usage: OnUsage | None) -> Model:
    provider, _, bare = name.partition("/")
    if not provider or not bare:
        raise PermanentError(
            f"no model can be called {name!r}: write provider/name, such as openai/gpt-5-mini"
        )
    url = settings.model_urls.get(provider)
    client = LiteLlm(
        name,
        Access(settings.model_keys.get(provider), str(url) if url else ""),
        Patience(settings.model_seconds, settings.model_stall_seconds),
        settings.model_prices.get(name),
    )
    return Retrying(Metered(Masked(client), on_usage), settings.model_attempts)
