"""The table of the settings that names channels, routes and quiet hours."""

from collections import Counter
from typing import Self

from pydantic import ConfigDict, model_validator

from tocsin_contracts import Value
from tocsin_notifier.rules.options import Options
from tocsin_notifier.rules.quiet import Quiet
from tocsin_notifier.rules.routes import Route

OWN = ("log", "webhook", "slack")
"""Channels that have settings of their own."""


class Rules(Value):
    """Channels by name, routes to them, quiet hours; a name that nothing bears is refused."""

    model_config = ConfigDict(extra="forbid")

    channels: tuple[Options, ...] = ()
    routes: tuple[Route, ...] = ()
    quiet: Quiet | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every channel that something is told on, beside the usual ones."""
        return frozenset(name for route in self.routes for name in route.to)

    @model_validator(mode="after")
    def _known(self) -> Self:
        names = [*OWN, *(channel.name for channel in self.channels)]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"two channels are called {twice[0]!r}; rename one")
        wanted = [(f"routes.{n}", route.to) for n, route in enumerate(self.routes)]
        wanted += [("quiet.channels", self.quiet.channels)] if self.quiet else []
        for place, those in wanted:
            strange = [name for name in those if name not in names]
            if strange:
                known = ", ".join(sorted(names))
                raise ValueError(f"{place}: no channel {strange[0]!r}; known: {known}")
        return self
