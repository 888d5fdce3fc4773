"""Tell which allowed repository is meant by the URL that a GitOps controller clones from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.providers import LOCAL

_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):(?!//)(?P<path>.+)")
_WEB_PORTS = {"https": 443, "http": 80}
_ALIASES = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
}
"""What forges also answer as, where the usual port of ssh is closed."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository as its forge names it; the port is 0 for the usual one of the web.

    The port of ssh tells no host from another: it is None.
    """

    host: str
    name: str
    port: int | None = None

    def __str__(self) -> str:
        """Say it without who logs in."""
        port = f":{self.port}" if self.port else ""
        return f"{self.host}{port}/{self.name}" if self.host else f"/{self.name}"


class Match(StrEnum):
    """Whether a repository is the one at a URL; UNKNOWN where it does not say what it is."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def remote(url: str) -> Remote | None:
    """Return what a URL of git names: over https or ssh, or a path; None for anything else."""
    text = url.strip()
    scp = _SCP.fullmatch(text)
    if scp and "://" not in text:
        return _made(scp["host"], None, scp["path"])
    if "://" not in text:
        return _made("", None, text) if text.startswith("/") else None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme == "file":
        return _made("", None, parts.path)
    web = parts.scheme in _WEB_PORTS
    unusual = port if web and port not in (None, _WEB_PORTS[parts.scheme]) else 0
    return _made(host, unusual if web else None, parts.path) if host else None


def matches(gitops: GitOps, repository: Repository, url: str) -> Match:
    """Return whether the repository is the one that is cloned from the URL.

    A local one that has no `urls` is a copy of a repository that only its name can tell.
    """
    asked = remote(url)
    if asked is None:
        return Match.NO
    known = (remote(one) for one in (*repository.urls, *_own_urls(gitops, repository)))
    if any(one and _same(asked, one) for one in known):
        return Match.YES
    if repository.host != LOCAL or repository.urls or not asked.host:
        return Match.NO
    return Match.YES if asked.name.lower() == repository.name.lower() else Match.UNKNOWN


def _own_urls(gitops: GitOps, repository: Repository) -> Iterator[str]:
    if repository.host == LOCAL:
        yield repository.git_dir.as_uri() if repository.git_dir.is_absolute() else ""
        return
    bases = (one.git_base for one in gitops.providers if one.host == repository.host)
    for base in (f"https://{repository.host}", *bases):
        yield f"{base.rstrip('/')}/{repository.name}" if base else ""


def _same(asked: Remote, one: Remote) -> bool:
    ports = asked.port == one.port or None in (asked.port, one.port)
    return ports and (asked.host, asked.name.lower()) == (one.host, one.name.lower())


def _made(host: str, port: int | None, path: str) -> Remote | None:
    name = "/".join(part for part in unquote(path).split("/") if part).removesuffix(".git")
    if not name or ".." in name.split("/"):
        return None
    lower = host.lower().rstrip(".")
    return Remote(_ALIASES.get(lower, lower), name, port)
