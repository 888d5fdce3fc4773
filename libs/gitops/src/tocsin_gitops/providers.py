"""The places that hold repositories: what they are, how to reach them, whose token is used."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

LOCAL = "local"
"""The host of bare repositories on this machine."""


class HostType(StrEnum):
    """The kinds of place; Forgejo is a Gitea."""

    LOCAL = "local"
    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class Provider(BaseModel):
    """One place. Settings name the variables that hold tokens, never a token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(description="Its name, such as github.com or git.example.com:8443.")
    type: HostType
    api_base: str = Field(default="", description="Of its API; the usual place if left out.")
    git_base: str = Field(default="", description="Of its repositories; https://HOST if left out.")
    token_env: str = Field(default="", description="Names the token that action writes with.")
    read_token_env: str = Field(
        default="", description="Names the token for reading; that of token_env if left out."
    )
    app_id: str = Field(default="", description="GitHub App instead of a token; GitHub only.")
    app_key_env: str = Field(default="", description="Names the App's private key, or its file.")


_KNOWN = (
    (LOCAL, HostType.LOCAL, "", ""),
    ("github.com", HostType.GITHUB, "https://api.github.com", "GITHUB_TOKEN"),
    ("gitlab.com", HostType.GITLAB, "", "GITLAB_TOKEN"),
    ("codeberg.org", HostType.GITEA, "", "CODEBERG_TOKEN"),
)

KNOWN: tuple[Provider, ...] = tuple(
    Provider(host=host, type=type_, api_base=base, token_env=variable)
    for host, type_, base, variable in _KNOWN
)
"""What needs no entry; an entry for the same host wins."""
