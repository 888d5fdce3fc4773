"""Every tool that rca has, in every mode, for everybody: used exactly where that is allowed."""

import itertools

import pytest

from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import ALLOWED, Mode
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_cluster.fleet import Fleet, Member
from tocsin_gitops.config import GitOps
from tocsin_gitops.source import LocalGitSource
from tocsin_kit.redaction import MASK, Redactor
from tocsin_rca import backends, tools
from tocsin_rca.settings import Settings
from tocsin_rca.sources.past_runs import PastRuns
from tocsin_rca.tools import outside
from tocsin_rca.tools.runs import RunTools
from tocsin_testing import recorded
from tocsin_testing.tools import RecordingTool

NAMES = [
    *("k8s.get", "k8s.list", "k8s.events", "k8s.logs"),
    *("delivery.recent", "delivery.state"),
    *("git.changes", "git.commits", "git.read_file"),
    *("git.repositories", "git.search", "git.blame", "git.compare", "git.pulls"),
    *("runs.about", "runs.search", "knowledge.search", "knowledge.read"),
    "metrics.localise",
]
IDENTITIES = [
    Identity("nobody", capabilities=frozenset()),
    Identity("reader"),
    Identity("writer", capabilities=frozenset({Capability.WRITE})),
    Identity("everything", capabilities=frozenset(Capability)),
]
TABLE = list(itertools.product(NAMES, Mode, IDENTITIES))


@pytest.fixture
def registry(history, clock, tmp_path):
    settings = Settings(prometheus_url="http://127.0.0.1:9", knowledge_dir=tmp_path)
    runs = RunTools(PastRuns(None, None, clock)).toolset()
    others = (runs, *outside.knowledge(settings), *outside.metrics(settings))
    fleet, source = Fleet([], clock.now), LocalGitSource()
    return tools.registry(fleet, history([]), source, GitOps(), outside=others)


async def test_the_table_has_every_tool(registry):
    found = [tool for toolset in registry for tool in await toolset.tools(IDENTITIES[1])]
    assert [tool.spec.name for tool in found] == NAMES
    assert {tool.spec.capability for tool in found} == {Capability.READ}


@pytest.mark.parametrize(("name", "mode", "identity"), TABLE)
async def test_a_tool_is_listed_and_used_exactly_where_that_is_allowed(
    registry, name, mode, identity
):
    catalogue = tools.catalogue(registry, mode, Redactor())
    may = Capability.READ in ALLOWED[mode] & identity.capabilities
    assert (name in [tool.spec.name for tool in await catalogue.tools(identity)]) is may
    result = await catalogue.call(name, {"unknown": 1}, ToolContext(identity))
    assert result.status is (Status.ERROR if may else Status.REFUSED)


@pytest.mark.parametrize(("mode", "identity"), list(itertools.product(Mode, IDENTITIES)))
async def test_tools_of_every_backend_are_offered_exactly_where_reading_is_allowed(
    mode, identity, monkeypatch
):
    monkeypatch.setenv("BACKEND_TOKEN", "tulip-7731")
    known = {name: recorded.recording(name) for name in recorded.names()}
    given = Settings(backends={name: one.options for name, one in known.items()}).backends
    names = {f"{name}.{use.tool}" for name, one in known.items() for use in one.uses}
    catalogue = tools.catalogue(backends.opened(given).toolsets, mode, Redactor())
    may = Capability.READ in ALLOWED[mode] & identity.capabilities
    assert {tool.spec.name for tool in await catalogue.tools(identity)} == (names if may else set())
    for name in names:
        result = await catalogue.call(name, {"unknown": 1}, ToolContext(identity))
        assert result.status is (Status.ERROR if may else Status.REFUSED)


async def test_what_a_tool_of_rca_answers_is_masked(scene, history, clock):
    scene.add("ConfigMap", "tulip-7731")
    fleet = Fleet([Member("west", scene.cluster())], clock.now)
    own = tools.registry(fleet, history([]), LocalGitSource(), GitOps())
    catalogue = tools.catalogue(own, Mode.ASK, Redactor(["tulip-7731"]))
    context = ToolContext(Identity("ada"), clusters=await fleet.look())
    result = await catalogue.call("k8s.list", {"kind": "ConfigMap", "namespace": "shop"}, context)
    assert result.data["objects"] == [{"name": MASK}]


async def test_an_installed_tool_that_writes_is_in_no_mode_of_rca(registry):
    tool = RecordingTool("extra.write", Capability.WRITE)
    more = [*registry, OwnTools("extra", [tool])]
    for mode in Mode:
        catalogue = tools.catalogue(more, mode, Redactor())
        assert isinstance(catalogue, Catalogue)
        context = ToolContext(IDENTITIES[-1], dry_run=False)
        assert (await catalogue.call("extra.write", {}, context)).status is Status.REFUSED
    assert tool.calls == []
