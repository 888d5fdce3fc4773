"""What holds an alert back at a time: titles, silences of our own and of Alertmanager, windows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import Alert, SuppressionKind
from tocsin_ingest.ports import RemoteSilences
from tocsin_ingest.triage.rules import Rules
from tocsin_ingest.triage.silences import Held, silenced, suppressing_rule
from tocsin_ingest.triage.windows import open_window


@dataclass(frozen=True, slots=True)
class Finding:
    """What holds an alert back, if anything does, and a sentence about how that was found."""

    held: Held | None
    said: str


class Judge:
    """Asks every rule by which an alert needs nobody."""

    def __init__(
        self, titles: Collection[str], rules: Rules, remote: RemoteSilences | None = None
    ) -> None:
        self._titles = titles
        self._rules = rules
        self._remote = remote

    async def silences(self, alert: Alert, at: datetime) -> Finding:
        """Ask for silences; one that nobody could read silences nothing, and that is said."""
        if rule := suppressing_rule(alert, self._titles):
            return Finding(Held(SuppressionKind.TITLE, rule), f"Held back: {rule}.")
        if held := silenced(self._rules.silences, alert, at):
            return Finding(held, f"Held back: {held.rule}.")
        if self._remote is None:
            return Finding(None, "No silence holds.")
        read = await self._remote.read()
        if held := silenced(read.silences, alert, at):
            return Finding(held, f"Held back by Alertmanager: {held.rule}.")
        return Finding(None, f"No silence holds{f'; {read.problem}' if read.problem else ''}.")

    def maintenance(self, alert: Alert, at: datetime) -> Finding:
        """Ask for maintenance windows."""
        found = open_window(self._rules.maintenance, alert, at)
        if found is None:
            return Finding(None, "No maintenance window is open.")
        rule = f"maintenance window {found.window.said(found.span)}"
        held = Held(SuppressionKind.MAINTENANCE, rule, found.window.by, found.span.end)
        return Finding(held, f"Held back: {rule}.")

    async def holds(self, alert: Alert, at: datetime) -> bool:
        """Whether anything holds an alert back at a time."""
        found = await self.silences(alert, at)
        return found.held is not None or self.maintenance(alert, at).held is not None
