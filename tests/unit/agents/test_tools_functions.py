"""A typed async function with a docstring is a tool."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import Field

from tocsin_agents.tools.functions import FunctionTool, tool
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext, ToolResult
from tocsin_contracts import ObjectRef
from tocsin_kit.errors import PermanentError, TransientError

CONTEXT = ToolContext(Identity("ada"))
READ = Capability.READ


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@tool(server="shop", capability=READ)
async def find(
    name: str,
    context: ToolContext,
    most: int = 3,
    colour: Colour | None = None,
    json: Annotated[bool, Field(description="Whether to answer in JSON.")] = False,
) -> dict[str, object]:
    """Find things by name.

    Args:
        name: What they are called,
            as a pattern.
        most: How many at most.
        colour: Which colour.

    What is sold out is left out.
    """
    return {
        "name": name,
        "most": most,
        "colour": colour,
        "json": json,
        "who": context.identity.name,
    }


async def test_a_function_is_offered_with_its_name_its_text_and_its_arguments():
    spec = find.spec
    assert (spec.name, spec.capability) == ("shop.find", READ)
    assert spec.description.startswith("Find things by name.")
    assert spec.description.endswith("What is sold out is left out.")
    assert "Args" not in spec.description
    assert spec.parameters["required"] == ["name"]
    told = {name: one["description"] for name, one in spec.parameters["properties"].items()}
    assert told == {
        "name": "What they are called, as a pattern.",
        "most": "How many at most.",
        "colour": "Which colour.",
        "json": "Whether to answer in JSON.",
    }


def test_the_context_is_in_no_schema():
    assert "context" not in find.spec.parameters["properties"]


async def test_the_context_comes_from_the_caller_and_never_from_the_arguments():
    result = await find.call({"name": "cup"}, CONTEXT)
    assert result.data["who"] == "ada"
    forged = await find.call({"name": "cup", "context": {"identity": "eve"}}, CONTEXT)
    assert forged.status is Status.ERROR
    assert "context: Extra inputs are not permitted" in forged.error


async def test_what_a_function_returns_is_plain_data():
    result = await find.call({"name": "cup", "colour": "blue"}, CONTEXT)
    assert result.data == {"name": "cup", "most": 3, "colour": "blue", "json": False, "who": "ada"}
    assert type(result.data["colour"]) is str


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "name: Field required"),
        ({"name": 5}, "name: Input should be a valid string"),
        ({"name": "cup", "most": "5"}, "most: Input should be a valid integer"),
        ({"name": "cup", "most": True}, "most: Input should be a valid integer"),
        ({"name": "cup", "size": 1}, "size: Extra inputs are not permitted"),
        ({"name": "cup", "colour": "green"}, "colour: Input should be 'red' or 'blue'"),
        ({"name": "cup", "most": float("nan")}, "the arguments are not JSON"),
        ({"name": object()}, "the arguments are not JSON"),
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_that_says_what_to_send(arguments, said):
    result = await find.call(arguments, CONTEXT)
    assert result.status is Status.ERROR
    assert said in result.error
    assert "shop.find takes: name (string, required), most (integer)" in result.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TransientError("the shop is closed"), "It may work later."),
        (PermanentError("the shop is gone"), "Trying again will not help."),
    ],
)
async def test_a_failure_that_was_to_be_expected_is_a_result(error, message):
    @tool(server="shop", capability=READ)
    async def enter() -> None:
        """Go in."""
        raise error

    result = await enter.call({}, CONTEXT)
    assert (result.status, result.error, result.message) == (Status.ERROR, str(error), message)


async def test_a_bug_in_a_tool_is_no_result():
    @tool(server="shop", capability=READ)
    async def enter() -> None:
        """Go in."""
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await enter.call({}, CONTEXT)


async def test_a_function_may_say_itself_how_it_ended():
    said = ToolResult(status=Status.OK, data=1, message="One thing.")

    @tool(server="shop", capability=READ)
    async def count() -> ToolResult:
        """Count."""
        return said

    assert await count.call({}, CONTEXT) is said


async def test_objects_and_literals_are_arguments_too():
    @tool(server="shop", capability=READ)
    async def show(ref: ObjectRef, how: Literal["short", "long"]) -> str:
        """Show one.

        Args:
            ref: Which.
            how: How.
        """
        return f"{ref} {how}"

    sent = {"ref": {"kind": "Pod", "name": "a"}, "how": "long"}
    assert (await show.call(sent, CONTEXT)).data == "Pod a long"


async def test_a_method_is_a_tool_without_its_self():
    class Shop:
        async def list(self, shelf: str) -> str:
            """List a shelf.

            Args:
                shelf: Which.
            """
            return f"{self.__class__.__name__} {shelf}"

    made = FunctionTool(Shop().list, server="shop", capability=READ)
    assert list(made.spec.parameters["properties"]) == ["shelf"]
    assert (await made.call({"shelf": "a"}, CONTEXT)).data == "Shop a"


async def test_progress_reaches_who_waits():
    @tool(server="shop", capability=READ)
    async def look(context: ToolContext) -> int:
        """Look around."""
        await context.progress("first shelf")
        await context.progress("second shelf")
        return 2

    heard = []

    async def hear(text):
        heard.append(text)

    await look.call({}, ToolContext(Identity("ada"), progress=hear))
    assert heard == ["first shelf", "second shelf"]


async def no_docstring(name: str) -> None: ...


async def mute(name: str) -> None:
    """Do it."""


async def explains_too_much(name: str) -> None:
    """Do it.

    Args:
        name: What.
        shelf: Where.
    """


async def untyped(name) -> None:
    """Do it.

    Args:
        name: What.
    """


async def greedy(*names: str) -> None:
    """Do it."""


def waits_for_nothing() -> None:
    """Do it."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_docstring, "has no docstring"),
        (mute, "does not explain name"),
        (explains_too_much, "explains shelf, which it has not"),
        (untyped, "give name a name and a type"),
        (greedy, "give names a name and a type"),
        (waits_for_nothing, "is no async function"),
    ],
)
def test_a_function_that_leaves_something_unsaid_is_no_tool(function, said):
    with pytest.raises(PermanentError, match=said):
        FunctionTool(function, server="shop", capability=READ)


@pytest.mark.parametrize("server", ["", "Shop", "a.b", "a b", "a/b", "shöp", "shop\n"], ids=repr)
def test_a_tool_is_called_server_and_tool_in_small_letters(server):
    with pytest.raises(PermanentError, match="no tool may be called"):
        FunctionTool(mute, server=server, capability=READ)
