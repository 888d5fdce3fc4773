"""Who is asked for the source of an object, in which order: the first sure answer wins."""

from dataclasses import dataclass, replace

from tocsin_gitops.config import Repository
from tocsin_validation.resolving.answers import Found, Search, Unresolved
from tocsin_validation.resolving.argo import by_argo
from tocsin_validation.resolving.flux import by_flux
from tocsin_validation.resolving.labels import Narrowed, by_labels


@dataclass(frozen=True, slots=True)
class Open:
    """Nobody was sure: all of these have to be looked through."""

    candidates: tuple[Repository, ...]


async def ask(search: Search) -> Found | Open | Unresolved:
    """Ask the labels of the alert, Argo CD, then Flux; what is left is to be searched."""
    said = await by_labels(search)
    if not isinstance(said, Narrowed):
        return said
    narrowed = replace(search, question=replace(search.question, candidates=said.candidates))
    for step in (by_argo, by_flux):
        answer = await step(narrowed)
        if answer is not None:
            return answer
    names = ", ".join(one.name for one in said.candidates)
    search.trace.note("search", f"in {names}, by kind, namespace and name")
    return Open(said.candidates)
