"""Tools that are described wrongly, one beside others that are not."""

import pytest

from tocsin_mcp.schema import fault
from tocsin_mcp.sifting import USELESS, Sifted, sound
from tocsin_mcp.wire import is_tool

RIGHT = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "change",
    [
        {"inputSchema": {"type": "string"}},
        {"inputSchema": {}},
        {"inputSchema": "object"},
        {"inputSchema": None},
        {"inputSchema": {"type": "object", "properties": []}},
        {"inputSchema": {"type": "object", "properties": {"a": 3}}},
        {"inputSchema": {"type": "object", "required": "a"}},
        {"description": 7},
        {"annotations": {"readOnlyHint": "maybe"}},
        {"icons": 7},
    ],
    ids=str,
)
def test_a_tool_that_the_library_would_refuse_is_one_that_nobody_offers(change):
    wrong = RIGHT | change | {"name": "odd"}
    assert sound([wrong, RIGHT], is_tool) == [{"name": "odd", "inputSchema": USELESS}, RIGHT]
    assert fault(USELESS)


def test_a_tool_without_a_name_is_left_out():
    tools = [{"inputSchema": {"type": "object"}}, 7, RIGHT | {"name": None}, RIGHT]
    assert sound(tools, is_tool) == [RIGHT]


def test_a_thousand_useless_tools_are_one_line_of_the_log(capsys):
    assert len(sound([{"name": f"odd-{number}"} for number in range(1000)], is_tool)) == 1000
    (said,) = capsys.readouterr().out.splitlines()
    assert "mcp.tools_unusable" in said
    assert "odd-0" in said
    assert "odd-999" not in said


@pytest.mark.parametrize(
    "more",
    [
        {"inputSchema": {"type": "object", "properties": {"a": True, "b": {"type": "string"}}}},
        {"title": None, "outputSchema": None, "icons": None, "annotations": {"readOnlyHint": True}},
    ],
    ids=["a schema that allows anything", "all that a tool may say"],
)
def test_a_right_tool_stays_as_it_is(more):
    assert sound([RIGHT | more], is_tool) == [RIGHT | more]


class Said:
    """A message of the library."""

    def __init__(self, **fields):
        self.message = type("Response", (), fields)()


class Read:
    """Messages in order."""

    def __init__(self, *messages):
        self._messages = list(messages)

    async def receive(self):
        return self._messages.pop(0)

    __anext__ = receive


async def test_only_lists_of_tools_are_looked_at():
    result, error = Said(result={"content": [{"tools": [7]}]}), ValueError("no message")
    sifted = Sifted(Read(Said(result={"tools": [7]}), result, error, Said(method="ping")), is_tool)
    assert (await sifted.receive()).message.result == {"tools": []}
    assert (await anext(sifted)).message.result == {"content": [{"tools": [7]}]}
    assert await sifted.receive() is error
    assert (await sifted.receive()).message.method == "ping"
