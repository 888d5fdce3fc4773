"""One file of a commit, as the API of every remote host shows it."""

import base64
import binascii

from pydantic import BaseModel

from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.failures import NotFoundError
from tocsin_kit.errors import PermanentError


class _Content(BaseModel):
    content: str | None = None
    encoding: str | None = None


async def content(client: ForgeClient, repository: str, path: str, commit: str) -> bytes | None:
    """Return the file that is at a path below the API, None if the commit lacks it.

    PermanentError for a folder, a link, and a file that is too large to be shown.
    """
    try:
        found = await client.get(_Content, repository, path, {"ref": commit})
    except NotFoundError:
        return None
    if found.encoding != "base64" or found.content is None:
        raise PermanentError(f"{path}: the host does not show what is in it")
    try:
        return base64.b64decode(found.content)
    except binascii.Error as error:
        raise PermanentError(f"{path}: what the host shows is no base64") from error
