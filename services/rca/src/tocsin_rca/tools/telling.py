"""`tocsin-rca tools`: every tool there could be, what it can do, and whether it is offered."""

import asyncio
import sys
from collections.abc import Iterator, Sequence

from pydantic import RootModel

from tocsin_agents.tools.modes import ALLOWED, Mode
from tocsin_agents.tools.port import Capability, Identity
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_cluster import connecting
from tocsin_cluster.fleet import Fleet
from tocsin_contracts.views import ToolView
from tocsin_gitops.config import GitOps
from tocsin_gitops.source import LocalGitSource
from tocsin_kit import logging
from tocsin_kit.clock import SystemClock
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.parts import Parts
from tocsin_kit.runs_about import RunsAbout
from tocsin_mcp.errors import LostError
from tocsin_mcp.offers import Offer, Standing
from tocsin_mcp.session import Session
from tocsin_rca import backends, tools
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.settings import Settings
from tocsin_rca.sources.past_runs import PastRuns
from tocsin_rca.tools import outside
from tocsin_rca.tools.runs import RunTools

_ANYBODY = Identity("operator")


def main(arguments: Sequence[str]) -> None:
    """Print the rows as JSON; the flags are the service's own."""
    try:
        settings = Settings.load(arguments)
        logging.configure_quietly(settings)
        found = asyncio.run(rows(settings))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.write(RootModel(found).model_dump_json(indent=2) + "\n")


async def rows(settings: Settings) -> tuple[ToolView, ...]:
    """Look at everything once."""
    async with connecting.servers(settings) as servers:
        taken = frozenset(settings.cluster_servers.values())
        ours = [one for toolset in _ours(settings) for one in await _of(toolset)]
        theirs = [one for s in servers.sessions.values() for one in _offered(s, taken)]
    return (*ours, *theirs)


def _ours(settings: Settings) -> Iterator[NamedToolset]:
    """Yield our own, the installed ones and the agents; nothing is asked of any."""
    source, gitops = LocalGitSource(), GitOps()
    fleet, history = Fleet([], SystemClock().now), GitHistory(source, gitops)
    asked = backends.opened(settings.backends).toolsets
    others = (
        _runs(settings),
        *outside.metrics(settings),
        *outside.knowledge(settings),
        *asked,
        *outside.agents(settings),
    )
    yield from tools.registry(fleet, history, source, gitops, settings.toolsets, outside=others)


def _runs(settings: Settings) -> NamedToolset:
    parts = Parts.of(settings, moves_runs=False)
    return RunTools(PastRuns(parts.reader, RunsAbout(parts.redis), SystemClock())).toolset()


async def _of(toolset: NamedToolset) -> tuple[ToolView, ...]:
    try:
        found = await toolset.tools(_ANYBODY)
    except TocsinError as error:
        return (_away(toolset.name, str(error)),)
    return tuple(
        _row(tool.spec.name, tool.spec.capability, toolset.name, Standing.OFFERED.value)
        for tool in found
    )


def _offered(session: Session, taken: frozenset[str]) -> tuple[ToolView, ...]:
    server = session.server.name
    try:
        offers = session.offers()
    except LostError:
        return (_away(server, session.trouble or session.state.value),)

    def state(offer: Offer) -> str:
        through = server in taken and offer.standing is Standing.OFFERED
        return "through k8s" if through else offer.standing.value

    return tuple(
        _row(f"{server}.{offer.name}", offer.capability, server, state(offer)) for offer in offers
    )


def _row(name: str, capability: Capability, server: str, state: str) -> ToolView:
    unused = state == Standing.OFFERED.value and capability not in ALLOWED[Mode.ASK]
    state = "only reads are used" if unused else state
    return ToolView(name=name, capability=capability.value, server=server, state=state)


def _away(server: str, why: str) -> ToolView:
    return ToolView(name=f"{server}.*", capability="", server=server, state=f"away: {why}")
