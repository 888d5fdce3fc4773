"""Find the token of a provider where the operator put it: in the environment, by its name."""

from collections.abc import Mapping
from pathlib import Path

import httpx

from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.github_app import READ, WRITE, AppKey, AppTokens
from tocsin_gitops.hosts.tokens import PlainToken, Tokens
from tocsin_gitops.providers import HostType, Provider
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError

_WRITING = {
    HostType.GITHUB: "contents: write and pull requests: write (classic: repo)",
    HostType.GITLAB: "the scope api and the role Developer",
    HostType.GITEA: "the scopes write:repository, write:issue and read:user",
}
_READING = {
    HostType.GITHUB: "contents: read and pull requests: read (classic: repo)",
    HostType.GITLAB: "the scopes read_api and read_repository and the role Reporter",
    HostType.GITEA: "the scopes read:repository and read:issue",
}


def tokens(
    provider: Provider,
    environment: Mapping[str, str],
    clock: Clock,
    *,
    writing: bool,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Tokens:
    """Return what asks a provider with rights to write, or only to read.

    Who only reads may do so as nobody; PermanentError names the variable that a writer lacks.
    """
    reads_alone = not writing and _reads_alone(provider, environment)
    if provider.app_id and not reads_alone:
        return _app(provider, environment, clock, writing=writing, transport=transport)
    rights = (_WRITING if writing else _READING).get(provider.type, "no rights")
    variable = provider.read_token_env if reads_alone else provider.token_env
    value = _value(environment, variable)
    if writing and not value:
        raise PermanentError(
            f"{provider.host}: no token to write with; set {variable or 'token_env'} to one with "
            f"{rights}"
        )
    return PlainToken(variable or "token_env", value, rights)


def _reads_alone(provider: Provider, environment: Mapping[str, str]) -> bool:
    """Whether reading has a token of its own; the one that writes may be given to others only."""
    writes = provider.app_key_env if provider.app_id else provider.token_env
    named = provider.read_token_env
    return bool(named) and bool(_value(environment, named) or not _value(environment, writes))


def _value(environment: Mapping[str, str], variable: str) -> str:
    return environment.get(variable, "").strip()


def _app(
    provider: Provider,
    environment: Mapping[str, str],
    clock: Clock,
    *,
    writing: bool,
    transport: httpx.AsyncBaseTransport | None,
) -> Tokens:
    variable = provider.app_key_env
    text = _key(provider, variable, _value(environment, variable))
    key = AppKey(provider.app_id, variable, text, WRITE if writing else READ, clock)
    return AppTokens(ForgeClient(provider, key, clock=clock, transport=transport), key)


def _key(provider: Provider, variable: str, value: str) -> str:
    """Return the key itself, whose line ends may be written as in JSON; or read its file."""
    if not value:
        name = variable or "app_key_env"
        raise PermanentError(f"{provider.host}: no key of the GitHub App; set {name} to it")
    if value.startswith("-----BEGIN"):
        return value.replace("\\n", "\n")
    try:
        return Path(value).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise PermanentError(f"{variable} names no file with a private key") from error
