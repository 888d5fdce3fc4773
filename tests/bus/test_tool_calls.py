"""The history of direct calls: the newest first, and never too many."""

import pytest

from tocsin_contracts.chat import ChatMode
from tocsin_contracts.toolcalls import CallStatus, ToolCallView
from tocsin_kit import keys, store, tool_calls
from tocsin_kit.tool_calls import ToolCalls
from tocsin_testing.build import NOW

pytestmark = pytest.mark.servers


def call(tool):
    return ToolCallView(
        at=NOW, by="ana", mode=ChatMode.ASK, tool=tool, arguments={}, status=CallStatus.OK
    )


async def test_the_newest_calls_are_kept_and_come_first(redis_url, monkeypatch):
    monkeypatch.setattr(tool_calls, "MOST_CALLS", 3)
    redis = store.connect(redis_url)
    calls = ToolCalls(redis)
    for name in ("k8s.a", "k8s.b", "k8s.c", "k8s.d"):
        await calls.record(call(name))
    await redis.lset(keys.tool_calls(), 1, "{}")
    assert [one.tool for one in await calls.recent(10)] == ["k8s.d", "k8s.b"]
    assert [one.tool for one in await calls.recent(1)] == ["k8s.d"]
    assert await redis.ttl(keys.tool_calls()) > 0
    await redis.aclose()
