"""The places that hold repositories: what they are, how to reach them, whose token is used."""

import re
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

LOCAL = "local"
"""The host of bare repositories on this machine."""


class HostType(StrEnum):
    """The kinds of place; Forgejo is a Gitea."""

    LOCAL = "local"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


_NAME = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$"
_VARIABLE = r"^([A-Z_][A-Z0-9_]*)?$"
_SEGMENT = r"(?!\.\.?(?:/|$))[A-Za-z0-9_.][A-Za-z0-9._-]*"
_REPOSITORY = re.compile(rf"{_SEGMENT}(/{_SEGMENT})+")
_ADDRESS = re.compile(r"[!-~]*")
_PAIR = 2


def _base(address: str) -> str:
    """Allow https, and http where it cannot leave the machine."""
    parts = urlsplit(address)
    plain = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if address and not (parts.scheme == "https" or plain):
        raise ValueError("has to begin with https:// (http:// is for this machine only)")
    return _plain(address)


def _plain(address: str) -> str:
    """Refuse what hides a password, and what nothing could connect to."""
    parts = urlsplit(address)
    odd = not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment
    if address and (odd or parts.port == 0 or not _ADDRESS.fullmatch(address)):
        raise ValueError("has to be a plain address without user, password and query")
    return address.rstrip("/")


def _proxy(address: str) -> str:
    if address and urlsplit(address).scheme not in ("http", "https"):
        raise ValueError("has to begin with http:// or https://")
    return _plain(address)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


Base = Annotated[str, AfterValidator(_base)]
Proxy = Annotated[str, AfterValidator(_proxy)]


class Provider(BaseModel):
    """One place. Settings name the variables that hold tokens, never a token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(
        pattern=_NAME, description="Its name, such as github.com or git.example.com:8443."
    )
    type: HostType
    api_base: Base = Field(default="", description="Of its API; the usual place if left out.")
    git_base: Base = Field(default="", description="Of its repositories; https://HOST if left out.")
    proxy: Proxy = Field(
        default="", description="What leads to it, such as http://proxy.example:3128."
    )
    token_env: str = Field(
        default="", pattern=_VARIABLE, description="Names the token that action writes with."
    )
    read_token_env: str = Field(
        default="",
        pattern=_VARIABLE,
        description="Names the token for reading; that of token_env serves if it is not set.",
    )
    app_id: str = Field(default="", description="GitHub App instead of a token; GitHub only.")
    app_key_env: str = Field(
        default="", pattern=_VARIABLE, description="Names the App's private key, or its file."
    )

    @model_validator(mode="after")
    def _app_of_github(self) -> Self:
        if bool(self.app_id) != bool(self.app_key_env):
            raise ValueError("app_id and app_key_env go together")
        if self.app_id and self.type is not HostType.GITHUB:
            raise ValueError("app_id is for GitHub only")
        return self

    @model_validator(mode="after")
    def _local_is_known(self) -> Self:
        if (self.host == LOCAL) != (self.type is HostType.LOCAL):
            raise ValueError(f"{LOCAL!r} is this machine, and needs no entry")
        return self

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that may hold a secret of it."""
        named = (self.token_env, self.read_token_env, self.app_key_env)
        return tuple(dict.fromkeys(name for name in named if name))

    def refuses(self, repository: str) -> str:
        """Return why this can be no repository of it; empty if it can be one."""
        if self.type is HostType.LOCAL:
            return ""
        if not _REPOSITORY.fullmatch(repository) or ".git/" in f"{repository}/":
            return "a name has to be owner/name, as in its address and without .git"
        if self.type is not HostType.GITLAB and len(repository.split("/")) != _PAIR:
            return "a name has to be owner/name; only GitLab has groups in groups"
        return ""


_KNOWN = (
    ("github.com", HostType.GITHUB, "https://api.github.com", "GITHUB"),
    ("gitlab.com", HostType.GITLAB, "", "GITLAB"),
    ("codeberg.org", HostType.GITEA, "", "CODEBERG"),
)

KNOWN: tuple[Provider, ...] = (
    Provider(host=LOCAL, type=HostType.LOCAL),
    *(
        Provider(
            host=host,
            type=type_,
            api_base=base,
            token_env=f"{name}_TOKEN",
            read_token_env=f"{name}_READ_TOKEN",
        )
        for host, type_, base, name in _KNOWN
    ),
)
"""What needs no entry; an entry for the same host wins."""
