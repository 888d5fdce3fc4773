"""Where open runs are, read from a real store."""

from datetime import timedelta

import pytest

from tocsin_contracts import RunState
from tocsin_kit import keys, store
from tocsin_kit.clock import millis
from tocsin_kit.run_view import PAGE, RunReader
from tocsin_testing.build import NOW

pytestmark = pytest.mark.servers


async def test_every_open_run_is_counted_and_the_stillest_of_a_state_is_found(redis_url):
    async with store.connect(redis_url) as client:
        for n in range(PAGE + 2):
            state = RunState.RESOLVED if n % 2 else RunState.VALIDATING
            at = millis(NOW + timedelta(seconds=n))
            await client.hset(keys.run(f"run{n}"), mapping={"state": state, "updated": at})
            await client.zadd(keys.runs(), {f"run{n}": at})
        await client.zadd(keys.runs(), {"gone": millis(NOW)})
        (found,) = await RunReader(client).standing()
    assert (found.state, found.runs, found.oldest) == (RunState.VALIDATING, PAGE // 2 + 1, NOW)
