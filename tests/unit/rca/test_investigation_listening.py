"""An operator can follow a model's work, and a wish to stop it is heard in time."""

from decimal import Decimal

import pytest
from structlog.testing import capture_logs

from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.events import ModelAnswered, TextCame, ToolEnded, ToolsAway
from tocsin_agents.models.port import Usage
from tocsin_agents.tools.port import Status
from tocsin_rca.investigation.further import EVERY_SECONDS
from tocsin_rca.investigation.listening import logged


@pytest.mark.parametrize(("cost", "said"), [(Decimal("0.02"), "0.02"), (None, None)])
async def test_each_call_of_a_model_is_logged_with_what_it_cost(cost, said):
    used = Usage(input_tokens=9, cached_tokens=4, output_tokens=2, cost=cost)
    with capture_logs() as lines:
        await logged(ModelAnswered(agent="a", model="openai/own", usage=used))
    (line,) = lines
    assert (line["model"], line["input"], line["cached"], line["cost"]) == (
        "openai/own",
        9,
        4,
        said,
    )


async def test_tools_are_logged_and_words_are_not():
    ended = ToolEnded(agent="a", call="1", tool="k8s.get", status=Status.OK, seconds=0.123)
    with capture_logs() as lines:
        await logged(ended)
        await logged(ToolsAway(agent="a", why="shop is away"))
        await logged(TextCame(agent="a", text="a secret"))
    assert [line["event"] for line in lines] == ["rca.tool_used", "rca.tools_away"]


def test_a_wish_to_stop_and_the_grace_of_a_tool_are_over_in_ten_seconds():
    assert EVERY_SECONDS + Engine().grace_seconds < 10
