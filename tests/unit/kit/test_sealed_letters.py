"""Of dead letters, those that only action may say are not given again by anybody."""

from datetime import UTC, datetime

import pytest

from tocsin_contracts import EVENTS
from tocsin_kit.letters import Letter
from tocsin_kit.parked import NotReplayedError, Parked
from tocsin_kit.publishes import SEALED
from tocsin_testing.fakes import FakePublisher

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class OneLetter:
    """A stream that holds one letter."""

    def __init__(self, topic):
        subject = f"tocsin.{topic}.r1"
        self.letter = Letter(
            service="notifier", subject=subject, event_id="e", cause="c", body="{}", at=NOW
        )

    async def read(self, number):
        return self.letter


@pytest.mark.parametrize("topic", sorted(event.topic for event in EVENTS if event in SEALED))
async def test_what_only_action_says_is_refused_with_what_to_do_and_nothing_changes(topic):
    bus = FakePublisher()
    letters = Parked(OneLetter(topic), None, bus.publish, None, producer="gateway")
    with pytest.raises(NotReplayedError, match=r"only action may say .* discard the letter"):
        await letters.replay(1, "ana")
    assert bus.published == []
