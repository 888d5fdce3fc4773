"""What people see of a dead letter: its message, but for words that are one person's alone."""

import json

import pytest

from tocsin_contracts import EVENTS, PREFIX
from tocsin_kit.letters import PRIVATE, Letter
from tocsin_kit.redaction import Redactor
from tocsin_testing.build import NOW, RUN

WORDS = "is the salary database down?"


def shown(topic, body):
    letter = Letter(
        service="rca",
        subject=f"{PREFIX}.{topic}.{RUN}",
        event_id="e1",
        cause="the model said no",
        body=body,
        number=7,
        at=NOW,
    )
    return letter.shown(Redactor())


@pytest.mark.parametrize("topic", [event.topic for event in EVENTS])
@pytest.mark.parametrize("body", [json.dumps({"question": WORDS}), f'{{"words": "{WORDS}'])
def test_p6_what_is_said_in_a_chat_is_shown_to_nobody_and_every_other_message_is(topic, body):
    told = shown(topic, body)
    assert told.topic == topic
    if topic.startswith("chat."):
        assert told.body == PRIVATE
        assert WORDS not in told.model_dump_json()
    else:
        assert WORDS in told.body
