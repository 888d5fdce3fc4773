"""All tools under one roof: one that is away hides no other, and no call goes past the guard."""

import asyncio

import pytest
from structlog.testing import capture_logs

from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_agents.tools.toolsets import OwnTools, load
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.tools import FixedToolset, RecordingTool

ADA = Identity("ada")
CONTEXT = ToolContext(ADA)
PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "most": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


def catalogue(**toolsets):
    return Catalogue(toolsets, Mode.ASK, listing_seconds=0.05)


class Hanging(FixedToolset):
    async def tools(self, identity):
        await asyncio.Event().wait()


async def test_tools_of_all_toolsets_are_listed_in_their_order():
    two = catalogue(
        k8s=FixedToolset(RecordingTool("k8s.get"), RecordingTool("k8s.logs")),
        git=FixedToolset(RecordingTool("git.log")),
    )
    names = [tool.spec.name for tool in await two.tools(ADA)]
    assert names == ["k8s.get", "k8s.logs", "git.log"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (FixedToolset(error=TransientError("no connection")), "no connection"),
        (FixedToolset(error=PermanentError("wrong key")), "wrong key"),
        (Hanging(), "it did not say within 0.05 seconds what it can do"),
    ],
)
async def test_a_toolset_that_is_away_is_named_and_hides_no_other(broken, why):
    listing = await catalogue(bad=broken, git=FixedToolset(RecordingTool("git.log"))).listing(ADA)
    assert [tool.spec.name for tool in listing.tools] == ["git.log"]
    assert listing.away == {"bad": why}


async def test_what_is_away_is_logged_once():
    bad = catalogue(bad=FixedToolset(error=TransientError("no connection")))
    with capture_logs() as lines:
        await bad.tools(ADA)
        await bad.tools(ADA)
    assert [(line["event"], line["tools"], line["why"]) for line in lines] == [
        ("tools.away", "bad", "no connection")
    ]


async def test_a_call_asks_no_toolset_but_the_one_that_has_the_tool():
    other, git = FixedToolset(), FixedToolset(RecordingTool("git.log"))
    both = catalogue(other=other, git=git)
    await both.tools(ADA)
    await both.call("git.log", {}, CONTEXT)
    assert (other.listings, git.listings) == (1, 2)


async def test_a_tool_can_be_called_before_anything_was_listed():
    result = await catalogue(git=FixedToolset(RecordingTool("git.log"))).call(
        "git.log", {}, CONTEXT
    )
    assert (result.status, result.data) == (Status.OK, "done")


async def test_a_tool_whose_toolset_went_away_says_so():
    git = FixedToolset(RecordingTool("git.log"))
    one = catalogue(git=git)
    await one.tools(ADA)
    git.error = TransientError("no connection")
    result = await one.call("git.log", {}, CONTEXT)
    assert (result.status, result.error) == (Status.ERROR, "git.log is away: no connection")
    assert result.message == "It may work later."


async def test_a_tool_that_is_not_listed_is_refused():
    git = FixedToolset(RecordingTool("git.log"))
    one = catalogue(git=git)
    await one.tools(ADA)
    git.given = ()
    for name in ("git.log", "git.push", "", "../git.log"):
        result = await one.call(name, {}, CONTEXT)
        assert result.status is Status.REFUSED
        assert "use one that is listed" in result.error


async def test_of_two_tools_with_one_name_the_earlier_is_kept_and_the_other_is_named():
    first, second = RecordingTool("git.log"), RecordingTool("git.log")
    both = catalogue(a=FixedToolset(first), b=FixedToolset(second, RecordingTool("git.show")))
    listing = await both.listing(ADA)
    assert [tool.spec.name for tool in listing.tools] == ["git.log", "git.show"]
    assert listing.away == {"b: git.log": "a has a tool of that name already; rename or prefix one"}
    await both.call("git.log", {}, CONTEXT)
    assert (len(first.calls), len(second.calls)) == (1, 0)


@pytest.mark.parametrize("name", ["log", "Git.log", "git.log.all", "git log", "git.log\n"])
async def test_a_tool_that_may_not_be_called_so_is_left_out_and_named(name):
    one = catalogue(git=FixedToolset(RecordingTool(name)))
    listing = await one.listing(ADA)
    assert listing.tools == ()
    assert len(listing.away) == 1
    assert (await one.call(name, {}, CONTEXT)).status is Status.REFUSED


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "'name' is a required property"),
        ({"name": "a", "size": 1}, "'size' was unexpected"),
        ({"name": 5}, 'name: type must be "string"'),
        ({"name": "a", "most": "many"}, 'most: type must be "integer"'),
    ],
)
async def test_arguments_that_do_not_fit_the_schema_are_an_error_that_says_what_to_send(
    arguments, said
):
    tool = RecordingTool("git.log", parameters=PARAMETERS)
    result = await catalogue(git=FixedToolset(tool)).call("git.log", arguments, CONTEXT)
    assert (result.status, tool.calls) == (Status.ERROR, [])
    assert said in result.error
    assert "git.log takes: name (string, required), most (integer)" in result.error


async def test_what_a_tool_raises_on_purpose_is_a_result():
    tool = RecordingTool("git.log", answer=TransientError("no connection"))
    result = await catalogue(git=FixedToolset(tool)).call("git.log", {}, CONTEXT)
    assert (result.status, result.error) == (Status.ERROR, "no connection")


async def test_a_catalogue_is_a_toolset_with_the_same_guard():
    tool = RecordingTool("git.log", parameters=PARAMETERS)
    inner = catalogue(git=FixedToolset(tool))
    (listed,) = await catalogue(all=inner).tools(ADA)
    assert (await listed.call({}, CONTEXT)).status is Status.ERROR
    assert (await listed.call({"name": "a"}, CONTEXT)).status is Status.OK


def test_a_toolset_of_our_own_has_tools_of_its_server_only_and_each_once():
    with pytest.raises(PermanentError, match=r"'git\.log' does not belong to server 'k8s'"):
        OwnTools("k8s", [RecordingTool("git.log")])
    with pytest.raises(PermanentError, match=r"two tools are called 'k8s\.get'"):
        OwnTools("k8s", [RecordingTool("k8s.get"), RecordingTool("k8s.get", Capability.WRITE)])


def test_two_toolsets_of_one_server_stop_the_start():
    with pytest.raises(PermanentError, match="two plugins are called 'k8s'"):
        load([OwnTools("k8s", []), OwnTools("k8s", [])])


def test_an_installed_toolset_that_is_wanted_and_missing_stops_the_start():
    with pytest.raises(PermanentError, match="no plugin 'jira' is installed"):
        load([OwnTools("k8s", [])], ["jira"])
