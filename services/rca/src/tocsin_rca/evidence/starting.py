"""The words that containers are started with, and slips in them that can be put right."""

from collections.abc import Callable, Iterator

from tocsin_cluster.manifest import Container, Manifest
from tocsin_contracts import FieldChange, FieldPath
from tocsin_gitops import programs, scripts
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy

_FIELDS = ("command", "args")


def respelt(case: Case, program: str) -> Remedy | None:
    """Put the name of a program right that is a slip of just one that images have."""
    meant = programs.meant(program)
    because = f"{program!r} is no program that is known; the one that it is a slip of is {meant!r}."
    return _righted(case, lambda text: programs.respelt(text, program), because)


def closed(case: Case, word: str) -> Remedy | None:
    """Take a last word away that closes nothing in a script, if the shell names that word."""

    def without(text: str) -> str | None:
        found = scripts.closed(text)
        return found[0] if found and found[1] == word else None

    return _righted(case, without, f"{word!r} ends the script and closes nothing that it opens.")


def words(case: Case) -> Iterator[tuple[Observation[Manifest], Container, FieldPath, str]]:
    """Yield every word that a container of the workload is started with, and where it stands."""
    seen = design(case)
    for container in seen.data.containers() if seen else ():
        for field in _FIELDS:
            found = container.dig(field)
            for at, word in enumerate(found if isinstance(found, list) else ()):
                if seen and isinstance(word, str):
                    yield seen, container, (*container.path, field, at), word


def _righted(case: Case, better: Callable[[str], str | None], because: str) -> Remedy | None:
    """Return the change of the one word that can be put right; None if several can, or none."""
    found = [(seen, path, old, new) for seen, _, path, old in words(case) if (new := better(old))]
    if len(found) != 1:
        return None
    seen, path, old, new = found[0]
    change = FieldChange(object=seen.data.ref, path=path, old=old, new=new)
    return Remedy((change,), because, (seen.id,))
