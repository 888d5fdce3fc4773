"""What somebody says of a run, as a fact: the same on every surface."""

from datetime import datetime

from tocsin_contracts.outcomes import Rateable, Rated
from tocsin_kit.run_view import Run


def rated(
    run: Run,
    about: Rateable,
    *,
    useful: bool,
    by: str,
    surface: str,
    at: datetime,
    producer: str,
    text: str = "",
) -> Rated:
    """Return the fact that somebody says so."""
    said = Rated(
        run_id=run.id, at=at, by=by, about=about, useful=useful, text=text, surface=surface
    )
    unique = f"{run.id}:rated:{about}:{by}:{at.isoformat()}"
    return said.caused_by(unique, producer).model_copy(update={"cause": ""})
