"""The steps of triage; each takes the state and returns what changed, and says what it found."""

from datetime import timedelta

from tocsin_contracts import (
    Correlation,
    IncidentOpened,
    RunId,
    RunSuperseded,
)
from tocsin_ingest import endings
from tocsin_ingest.judge import Finding, Judge
from tocsin_ingest.ports import Crowd
from tocsin_ingest.state import TriageState
from tocsin_ingest.triage import correlation, routing, storms
from tocsin_ingest.triage.correlation import Card, Mode
from tocsin_ingest.triage.rules import Rules
from tocsin_ingest.triage.windows import freeze_of
from tocsin_kit import logging
from tocsin_kit.errors import TransientError
from tocsin_kit.storms import Place
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind

PATIENCE = (1.0, 10.0)
"""Least and most seconds until a run that waits for its turn asks again."""

WAITING_PER_SECOND = 50
"""Each so many that wait make all of them ask a second later."""

log = logging.get(__name__)


class Nodes:
    """The steps, with the operator's rules and what is known of all runs together."""

    def __init__(self, judge: Judge, rules: Rules, crowd: Crowd) -> None:
        self._judge = judge
        self._rules = rules
        self._crowd = crowd

    async def silences(self, state: TriageState) -> TriageState:
        """Look for somebody who wants to hear nothing of it."""
        return _held(state, await self._judge.silences(state["alert"], state["at"]))

    async def maintenance(self, state: TriageState) -> TriageState:
        """Look for work that explains it."""
        return _held(state, self._judge.maintenance(state["alert"], state["at"]))

    async def freezes(self, state: TriageState) -> TriageState:
        """Look whether changes have to wait; the alert is investigated all the same."""
        freeze = freeze_of(self._rules.freezes, state["alert"], state["at"])
        if not freeze:
            return _said(state, "No change freeze holds.")
        return {"freeze": freeze, **_said(state, f"Nothing is applied unasked: {freeze}.")}

    async def correlation(self, state: TriageState) -> TriageState:
        """Look for an older open run with the same cause."""
        rules, run_id = self._rules.correlation, RunId(state["run_id"])
        if rules.mode is Mode.OFF:
            return _said(state, "Correlation is switched off.")
        card = correlation.card(run_id, state["at"], state["alert"], rules)
        await self._crowd.open_runs.add(card.at, card.model_dump_json())
        since = card.at - timedelta(minutes=rules.minutes)
        texts = await self._crowd.open_runs.newest(since, rules.compared)
        others = (Card.model_validate_json(text) for text in texts)
        found = await self._first_open(correlation.related(card, others, rules))
        if found is None:
            return _said(state, "No open run seems to have the same cause.")
        why = correlation.said(found)
        if rules.mode is Mode.SHADOW:
            return {"related": found, **_said(state, f"Only noted: {why}.")}
        return _superseded(state, found.into, why, related=found)

    async def storm(self, state: TriageState) -> TriageState:
        """Let one run stand for all with the same root while there are too many new ones."""
        run_id = RunId(state["run_id"])
        root = storms.root(state["alert"], self._rules.storm)
        place = await self._crowd.storms.enter(run_id, root)
        if place and place.leader != run_id and not await self._crowd.is_open(place.leader):
            place = await self._crowd.storms.enter(run_id, root, place.leader)
        if place is None:
            return _said(state, "There is no storm.")
        if place.storm == run_id:
            await self._watch_over(place)
        if place.leader != run_id:
            why = f"there is a storm, and run {place.leader} stands for {root}"
            return _superseded(state, place.leader, why, storm=place.storm)
        said = _said(state, f"There is a storm; this run stands for {root}.")
        return {"in_storm": place.storm, **said}

    async def routing(self, state: TriageState) -> TriageState:
        """Find out whose it is."""
        found = routing.route(self._rules.routes, state["alert"])
        named = {"team": found.team, "environment": found.environment, "rule": found.auto_approve}
        words = ", ".join(f"{name} {value}" for name, value in named.items() if value)
        return {
            "team": found.team,
            "environment": found.environment,
            "auto_approve": found.auto_approve,
            **_said(state, f"Routed to {words}." if words else "No route names it."),
        }

    async def open(self, state: TriageState) -> TriageState:
        """Let the investigation begin once it is its turn; until then this step runs again."""
        run_id, alert = RunId(state["run_id"]), state["alert"]
        source = f"{alert.source}/{alert.instance}" if alert.instance else alert.source
        turn = await self._crowd.tickets.take(run_id, storms.RANKS[alert.severity], source)
        if not turn.granted:
            log.info("ingest.run_waits", waiting=turn.waiting)
            least, most = PATIENCE
            raise TransientError(
                f"run {run_id!r} waits for its turn to be investigated, with {turn.waiting} others",
                retry_in=min(most, least + turn.waiting / WAITING_PER_SECOND),
            )
        opened = IncidentOpened(
            run_id=run_id,
            alert=alert,
            decisions=tuple(state["decisions"]),
            freeze=state.get("freeze", ""),
            team=state.get("team", ""),
            environment=state.get("environment", ""),
            auto_approve="" if state.get("freeze") else state.get("auto_approve", ""),
            related=state.get("related"),
            storm=state.get("in_storm", ""),
        )
        return {"answer": [opened]}

    async def _first_open(self, found: list[Correlation]) -> Correlation | None:
        """Return the likeliest run that still takes somebody in."""
        for one in found:
            if await self._crowd.is_open(one.into):
                return one
        return None

    async def _watch_over(self, place: Place) -> None:
        """See to it that people hear of a storm now, and that somebody looks when it is over."""
        await self._crowd.timers.set_timer(
            Timer(
                kind=TimerKind.STORM_LOOK,
                run_id=RunId(place.storm),
                due_at=place.started_at,
                about=place.storm,
            )
        )


def _said(state: TriageState, sentence: str) -> TriageState:
    return {"decisions": [*state.get("decisions", []), sentence]}


def _held(state: TriageState, found: Finding) -> TriageState:
    said = _said(state, found.said)
    if found.held is None:
        return said
    ending = endings.suppressed(
        RunId(state["run_id"]), state["alert"], found.held, said["decisions"]
    )
    return {"ended": True, "answer": ending, **said}


def _superseded(
    state: TriageState,
    into: RunId,
    why: str,
    *,
    related: Correlation | None = None,
    storm: str = "",
) -> TriageState:
    said = _said(state, f"Joined to run {into}: {why}.")
    superseded = RunSuperseded(
        run_id=RunId(state["run_id"]),
        alert=state["alert"],
        into=into,
        why=why,
        correlation=related,
        storm=storm,
        decisions=tuple(said["decisions"]),
    )
    return {"ended": True, "answer": endings.superseded(superseded), **said}
