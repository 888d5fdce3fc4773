"""The parts of GitHub's REST API that reading and writing share: addresses, pages, conflicts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeVar

from tocsin_gitops.config import Repository
from tocsin_gitops.hosts.client import ForgeClient, Params, at
from tocsin_gitops.hosts.content import content
from tocsin_gitops.hosts.failures import ConflictError
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError

PAGE = 100
"""As many as GitHub shows at once."""

T = TypeVar("T")


class GitHubApi:
    """Asks about one repository at a time; `path` is what follows the repository's address.

    Raises what the client does; a 409 is a TransientError, for GitHub says so of a repository
    that is empty or busy.
    """

    def __init__(self, client: ForgeClient) -> None:
        self._client = client

    @property
    def clock(self) -> Clock:
        """The clock of the client."""
        return self._client.clock

    async def me(self, repository: Repository) -> str:
        """Return the id of the account that we write as."""
        with _patient():
            return await self._client.me(repository.name)

    async def get(
        self, shape: type[T], repository: Repository, path: str, params: Params | None = None
    ) -> T:
        """Return what is there."""
        with _patient():
            return await self._client.get(shape, repository.name, _full(repository, path), params)

    async def send(
        self,
        shape: type[T],
        method: str,
        repository: Repository,
        path: str,
        body: Mapping[str, Any],
    ) -> T:
        """Write once and return the answer; ConflictError for what GitHub does not accept."""
        name = repository.name
        with _patient():
            return await self._client.send(shape, method, name, _full(repository, path), body)

    async def content(self, repository: Repository, path: str, commit: str) -> bytes | None:
        """Return a file of a commit, None if there is none."""
        with _patient():
            where = _full(repository, path)
            return await content(self._client, repository.name, where, commit)

    async def pages(
        self, shape: type[list[T]], repository: Repository, path: str, params: Params, most: int
    ) -> list[T]:
        """Return the things of a list, over as many pages as hold `most` of them."""
        found: list[T] = []
        for page in range(1, -(-most // PAGE) + 1):
            asked = {**params, "per_page": PAGE, "page": page}
            one = await self.get(shape, repository, path, asked)
            found += one
            if len(one) < PAGE:
                break
        return found[:most]


def _full(repository: Repository, path: str) -> str:
    return at("repos", *repository.name.split("/")) + path


@contextmanager
def _patient() -> Iterator[None]:
    try:
        yield
    except ConflictError as error:
        if error.status != HTTPStatus.CONFLICT:
            raise
        raise TransientError(str(error)) from error
