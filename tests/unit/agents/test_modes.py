"""What may be used in which mode by whom: allow lists, at the call and in what is listed."""

import itertools

import pytest

from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import ALLOWED, Mode, allows
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_testing.tools import FixedToolset, RecordingTool

READ, PROPOSE, NOTIFY, WRITE = Capability
IDENTITIES = [
    Identity("nobody", capabilities=frozenset()),
    Identity("reader"),
    Identity("proposer", capabilities=frozenset({READ, PROPOSE})),
    Identity("everything", capabilities=frozenset(Capability)),
]
TABLE = list(itertools.product(Capability, Mode, IDENTITIES))
MAY_BE_USED = {
    (READ, Mode.ASK, "reader"),
    (READ, Mode.ASK, "proposer"),
    (READ, Mode.ASK, "everything"),
    (READ, Mode.AGENT, "reader"),
    (READ, Mode.AGENT, "proposer"),
    (READ, Mode.AGENT, "everything"),
    (PROPOSE, Mode.AGENT, "proposer"),
    (PROPOSE, Mode.AGENT, "everything"),
}


@pytest.mark.parametrize(("capability", "mode", "identity"), TABLE)
async def test_a_tool_is_listed_and_used_exactly_where_mode_and_identity_allow_it(
    capability, mode, identity
):
    tool = RecordingTool("s.t", capability)
    catalogue = Catalogue({"s": FixedToolset(tool)}, mode)
    may = (capability, mode, identity.name) in MAY_BE_USED
    assert [listed.spec.name for listed in await catalogue.tools(identity)] == ["s.t"] * may
    result = await catalogue.call("s.t", {}, ToolContext(identity, dry_run=False))
    assert result.status is (Status.OK if may else Status.REFUSED)
    assert len(tool.calls) == may


def test_no_mode_writes_or_notifies():
    assert {WRITE, NOTIFY} & frozenset().union(*ALLOWED.values()) == set()


@pytest.mark.parametrize("mode", [*Mode, "root"])
@pytest.mark.parametrize("capability", ["admin", "", "READ", None])
def test_what_is_not_known_is_denied(mode, capability):
    identity = Identity("eve", capabilities=frozenset({capability, *Capability}))
    assert not allows(mode, identity, capability)


def test_a_mode_that_is_not_known_allows_nothing():
    assert not allows("root", IDENTITIES[-1], READ)


async def test_a_tool_that_was_listed_for_one_is_refused_for_another():
    tool = RecordingTool("s.t")
    (listed,) = await Catalogue({"s": FixedToolset(tool)}, Mode.ASK).tools(Identity("ada"))
    result = await listed.call({}, ToolContext(Identity("eve")))
    assert (result.status, tool.calls) == (Status.REFUSED, [])


async def test_a_tool_that_becomes_a_write_after_it_was_listed_is_refused():
    tool, ada = RecordingTool("s.t"), IDENTITIES[-1]
    (listed,) = await Catalogue({"s": FixedToolset(tool)}, Mode.AGENT).tools(ada)
    tool.capability = WRITE
    result = await listed.call({}, ToolContext(ada, dry_run=False))
    assert (result.status, tool.calls) == (Status.REFUSED, [])
    assert result.error == "everything may not write with s.t in agent mode"


async def test_a_dry_run_reads_and_does_nothing_else():
    tools, ada = [RecordingTool("s.get"), RecordingTool("s.open", PROPOSE)], IDENTITIES[-1]
    catalogue = Catalogue({"s": FixedToolset(*tools)}, Mode.AGENT)
    results = [await catalogue.call(tool.name, {}, ToolContext(ada)) for tool in tools]
    assert [result.status for result in results] == [Status.OK, Status.REFUSED]
    assert results[1].error == "this is a dry run: s.open would propose, so nothing was done"
    assert tools[1].calls == []


async def test_no_argument_ends_a_dry_run():
    tool = RecordingTool("s.open", PROPOSE)
    catalogue = Catalogue({"s": FixedToolset(tool)}, Mode.AGENT)
    sent = {"dry_run": False, "mode": "agent", "identity": "everything"}
    assert (await catalogue.call("s.open", sent, ToolContext(IDENTITIES[-1]))).data is None
    assert tool.calls == []
