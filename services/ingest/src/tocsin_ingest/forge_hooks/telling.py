"""From what a forge says to the event: who it belongs to, cleaned, and the same if told twice."""

from collections.abc import Callable
from typing import Any, TypeVar

from tocsin_contracts import (
    ForgeAuthor,
    ForgeEventKind,
    ForgeEventReceived,
    ForgeKind,
    RunId,
    derive_id,
)
from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_ingest.sources.reading import Sent, read
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import clean, line

COMMENT = 4000
"""Characters of a comment that are kept."""

NAME = 255
"""Characters of a name; git and every forge take no longer ones."""

BRANCHES = "refs/heads/"

ReadHook = Callable[[Delivery], ForgeEventReceived | None]
"""Returns what one delivery says, or None where it is none of our business.

Raises BadPayloadError that names what is missing or wrong.
"""

S = TypeVar("S", bound=Sent)
_LOOKED_AT = 4
_SECRETS = Redactor()


class Teller:
    """Makes the events of one delivery of one forge."""

    def __init__(self, forge: ForgeKind, delivery: Delivery, delivery_id: str) -> None:
        self._forge = forge
        self._at = delivery.received_at
        self._sent = delivery.payload
        self._delivery = line(delivery_id, NAME)

    def read(self, model: type[S]) -> S:
        """Return what was sent as the model; BadPayloadError names what is missing."""
        return read(model, self._sent, f"a webhook of {self._forge}")

    def tell(
        self,
        kind: ForgeEventKind,
        repo: str,
        author: ForgeAuthor,
        *,
        number: int | None = None,
        head_branch: str = "",
        url: str = "",
        body: str = "",
        merged_commit: str = "",
    ) -> ForgeEventReceived:
        """Return the event under a run of its own; its id follows from the delivery alone.

        Raises BadPayloadError for names that nothing on a forge can have.
        """
        place = number if number is not None else head_branch
        event = ForgeEventReceived(
            run_id=RunId("f" + derive_id(f"{self._forge}|{repo}|{place}", "run")[:15]),
            at=self._at,
            forge=self._forge,
            kind=kind,
            repo=_name("repository", repo),
            number=number,
            head_branch=_name("branch", head_branch),
            url=values.link(url),
            author=author.model_copy(
                update={"id": line(author.id, NAME), "login": line(author.login, NAME)}
            ),
            body=_said(body),
            merged_commit=line(merged_commit, NAME),
            delivery=self._delivery,
        )
        told = f"{self._forge}:{self._delivery}:{kind}:{repo}:{place}"
        return event.caused_by(told, "ingest").model_copy(update={"cause": ""})


def header(delivery: Delivery, *names: str) -> str:
    """Return the first of these headers that was sent; BadPayloadError if none was."""
    for name in names:
        if value := delivery.headers.get(name, "").strip():
            return value
    raise BadPayloadError(f"the header {names[-1]} is missing")


def text_at(payload: Any, name: str) -> str:
    """Return a text at the top of what was sent; empty if it is not there."""
    found = payload.get(name) if isinstance(payload, dict) else None
    return found if isinstance(found, str) else ""


def branch_of(ref: str, after: str) -> str:
    """Return the branch that a push moved; empty for a tag, or a branch that it deleted."""
    moved = ref.startswith(BRANCHES) and after.strip("0")
    return ref.removeprefix(BRANCHES) if moved else ""


def _name(what: str, name: str) -> str:
    if len(name) > NAME or line(name, NAME) != name:
        raise BadPayloadError(f"the {what} {line(name)!r} cannot be the name of one")
    return name


def _said(text: str) -> str:
    """A secret is masked before the text is cut: half a secret would not be known for one."""
    seen = _SECRETS.text(clean(text, COMMENT * _LOOKED_AT).text)
    return clean(seen, COMMENT).text
