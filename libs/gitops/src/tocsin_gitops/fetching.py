"""One fetch of a remote repository by git: bounded, from one host only, the token never shown."""

import base64
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tocsin_gitops import fetch_failures
from tocsin_gitops.config import Repository
from tocsin_gitops.fetch_failures import Failure
from tocsin_gitops.git import Git, GitFailed, Surroundings
from tocsin_gitops.hosts.tokens import Tokens
from tocsin_gitops.providers import HostType, Provider
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import line

OWN_BRANCHES = "tocsin/*"
MOST_PACKS = 40
_UNFINISHED = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/tmp_*", "gc.pid")
_USERS = {HostType.GITHUB: "x-access-token", HostType.GITLAB: "oauth2", HostType.GITEA: "tocsin"}
"""Whom a host wants to be named beside a token."""

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a fetch may take: seconds, and bytes of what it brings."""

    seconds: float = 300.0
    bytes_: int = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Origin:
    """A host that repositories are fetched from, and whose token that takes."""

    provider: Provider
    tokens: Tokens
    authorities: str = field(default="", kw_only=True)

    @property
    def base(self) -> str:
        """Where its repositories are, without a slash at the end."""
        return (self.provider.git_base or f"https://{self.provider.host}").rstrip("/")


async def fetch(repository: Repository, origin: Origin, bounds: Bounds, held: int) -> None:
    """Bring the copy up to date; whoever calls holds the lock, and lends it to git."""
    place = repository.git_dir
    token = await origin.tokens.token(repository.name)
    around = Surroundings(_environment(origin, token), bounds.bytes_, (held,))
    git = Git(place, bounds.seconds, around)
    _sweep(place)
    try:
        await git.run("init", "--quiet", "--bare", "--template=")
        await git.run(*_command(repository, origin))
    except GitFailed as error:
        raise _meaning(str(error), repository, origin, bounds) from None
    finally:
        _sweep(place)
    await _tidy(git, place)


def _command(repository: Repository, origin: Origin) -> tuple[str, ...]:
    options = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head")
    branches = (repository.branch, OWN_BRANCHES)
    wanted = (f"+refs/heads/{name}:refs/heads/{name}" for name in branches)
    url = f"{origin.base}/{repository.name}.git"
    return ("fetch", *options, "--no-recurse-submodules", "--", url, *wanted)


def _environment(origin: Origin, token: str) -> dict[str, str]:
    """Settings that hold the token go by the environment, where other accounts see nothing."""
    settings = {
        "http.followRedirects": "false",
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "30",
        "credential.helper": "",
        "core.askPass": "",
        "transfer.fsckObjects": "true",
        "fetch.fsck.zeroPaddedFilemode": "warn",
        "fetch.fsck.badTimezone": "warn",
        "fetch.unpackLimit": "1",
    }
    if token:
        shown = f"Authorization: Basic {basic(origin.provider.type, token)}"
        settings[f"http.{origin.base}/.extraHeader"] = shown
    if origin.provider.proxy:
        settings["http.proxy"] = origin.provider.proxy
    if origin.authorities:
        settings["http.sslCAInfo"] = origin.authorities
    scheme = origin.base.partition(":")[0]
    plain = {"GIT_ALLOW_PROTOCOL": scheme, "HOME": os.devnull, "GIT_ASKPASS": ""}
    return plain | dict(_counted(settings))


def basic(host_type: HostType, token: str) -> str:
    """Return what stands for a token in a header; it is as secret as the token."""
    return base64.b64encode(f"{_USERS[host_type]}:{token}".encode()).decode()


def _counted(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "GIT_CONFIG_COUNT", str(len(settings))
    for number, (key, value) in enumerate(settings.items()):
        yield f"GIT_CONFIG_KEY_{number}", key
        yield f"GIT_CONFIG_VALUE_{number}", value


def _sweep(place: Path) -> None:
    """Clear away what a killed fetch left; nobody else writes here while we hold the lock."""
    for pattern in _UNFINISHED:
        for file in place.glob(pattern):
            file.unlink(missing_ok=True)


def _meaning(
    said: str, repository: Repository, origin: Origin, bounds: Bounds
) -> PermanentError | TransientError:
    where = f"{origin.provider.host}: {repository.name!r}"
    kind = fetch_failures.kind(said)
    if kind is Failure.AWAY:
        return TransientError(f"{where} cannot be fetched now: {line(said, 300)}")
    if kind is Failure.REFUSED and origin.tokens.refused(repository.name):
        return TransientError(f"{where}: the token was not taken; the next one may be")
    known = {"needs": origin.tokens.needs, "branch": repository.branch, "bytes": bounds.bytes_}
    return PermanentError(f"{where} {kind.value.format(**known)}")


async def _tidy(git: Git, place: Path) -> None:
    """Each fetch is a pack; many are made one, and what nothing leads to goes after two weeks."""
    if _packs(place) <= MOST_PACKS:
        return
    try:
        await git.run("gc", "--quiet", "--force", "--prune=2.weeks.ago")
    except (GitFailed, TransientError) as error:
        log.warning("mirror.untidy", place=str(place), why=str(error))


def _packs(place: Path) -> int:
    return sum(1 for _ in place.glob("objects/pack/*.pack"))
