"""Who looks on hears what an agent does while it does it: masked, short, and not too often."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_agents.loop import events
from tocsin_agents.models.port import Usage
from tocsin_agents.tools.port import Status
from tocsin_contracts import ModelCalled, TextWritten, ToolAnswered, ToolCalled, ToolProgressed
from tocsin_kit.redaction import MASK, Redactor
from tocsin_rca.investigation.broadcasting import BETWEEN, MOST_LINE, MOST_TEXT, Broadcasting
from tocsin_testing.build import RUN
from tocsin_testing.fakes import FakeClock

SECRETS = (
    "ghp_" + "a1B2" * 6,
    "Bearer abcdefgh12345678",
    "password: hunter2secret",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowAAAA\n-----END RSA PRIVATE KEY-----",
    "correct horse battery",
    "https://ana:hunter2secret@git.example.com/x",
)
NEVER = ("a1B2a1B2", "abcdefgh1", "hunter2s", "MIIEow", "horse", "battery")


class Lookers:
    """They keep what they are told."""

    def __init__(self):
        self.told = []

    async def tell(self, event):
        self.told.append(event)


def came(text, agent="a"):
    return events.TextCame(agent=agent, text=text)


def answered(cost=Decimal("0.02")):
    used = Usage(input_tokens=9, cached_tokens=4, output_tokens=2, cost=cost)
    return events.ModelAnswered(agent="a", model="openai/own", usage=used)


def progressed(text, call="1"):
    return events.ToolProgressed(agent="a", call=call, tool="k8s.get", text=text)


async def heard(*steps, apart=0.0):
    """Return what is told of events, so many seconds apart."""
    lookers, clock = Lookers(), FakeClock()
    broadcasting = Broadcasting(lookers, Redactor(["correct horse battery"]), clock)
    async with broadcasting.of(RUN) as hear:
        for step in steps:
            await hear(step)
            clock.advance(apart)
    return lookers.told


def text_of(told):
    return "".join(one.text for one in told if isinstance(one, TextWritten))


async def test_words_that_come_together_are_told_together():
    pieces = [came(f"word{number} ") for number in range(40)]
    told = await heard(*pieces, answered(), apart=0.01)
    texts = [one for one in told if isinstance(one, TextWritten)]
    assert 4 <= len(texts) <= 6
    assert text_of(told) == "".join(piece.text for piece in pieces)
    assert all(b.at - a.at >= BETWEEN for a, b in pairwise(texts[:-1]))


async def test_what_an_answer_still_holds_back_comes_before_what_it_cost():
    told = await heard(came("It is "), came("mem"), came("ory"), answered())
    assert [type(one) for one in told] == [TextWritten, TextWritten, ModelCalled]
    assert text_of(told) == "It is memory"


async def test_an_answer_that_breaks_off_is_told_to_its_last_word():
    assert text_of(await heard(came("It is "), came("mem"))) == "It is mem"


@pytest.mark.parametrize(("cost", "said"), [(Decimal("0.02"), '"0.02"'), (None, "null")])
async def test_each_call_of_a_model_is_told_with_what_it_cost(cost, said):
    (told,) = await heard(answered(cost))
    assert told.subject == f"tocsin-live.{RUN}.model-called"
    assert (told.model, told.input_tokens, told.cached_tokens, told.output_tokens) == (
        "openai/own",
        9,
        4,
        2,
    )
    assert f'"cost":{said}' in told.model_dump_json()


@pytest.mark.parametrize("secret", SECRETS)
@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 12), apart=st.sampled_from([0.02, 0.1]))
async def test_a_secret_is_masked_in_whatever_pieces_it_comes(secret, size, apart):
    said = f"I saw it: {secret}\nand more"
    pieces = [came(said[at : at + size]) for at in range(0, len(said), size)]
    told = text_of(await heard(*pieces, answered(), apart=apart))
    assert MASK in told
    assert not [shown for shown in NEVER if shown in told]
    assert told.startswith("I saw it: ")


async def test_an_endless_answer_is_told_up_to_a_bound():
    pieces = [came("word " * 400) for _ in range(20)]
    told = text_of(await heard(*pieces, answered(), came("Next."), answered(), apart=1))
    assert MOST_TEXT - 10 < len(told) < MOST_TEXT + 50
    assert told.endswith("[… cut …]\nNext.")


async def test_two_agents_at_once_have_words_of_their_own():
    told = await heard(came("one "), came("two ", "b"), came("half"), came("whole", "b"), apart=1)
    said = {agent: text_of(one for one in told if one.agent == agent) for agent in "ab"}
    assert said == {"a": "one half", "b": "two whole"}


async def test_calls_of_tools_are_told_masked_and_short():
    given = '{"password": "hunter2secret", "name": "' + "x" * 1000 + '"}'
    started = events.ToolStarted(agent="a", call="c\n1", tool="k8s.get", arguments=given)
    ended = events.ToolEnded(
        agent="a", call="c\n1", tool="k8s.get", status=Status.OK, seconds=0.123, ref="r1"
    )
    called, done = await heard(started, ended)
    assert isinstance(called, ToolCalled)
    assert called.call == done.call == "c 1"
    assert "hunter2" not in called.arguments
    assert len(called.arguments) == MOST_LINE
    assert isinstance(done, ToolAnswered)
    assert (done.status, done.seconds, done.ref) == ("ok", 0.12, "r1")


async def test_of_a_tool_that_talks_on_the_newest_word_is_told_in_time():
    words = [progressed(f"{number} of 100") for number in range(100)]
    ended = events.ToolEnded(agent="a", call="1", tool="k8s.get", status=Status.OK, seconds=1)
    told = await heard(*words, ended, apart=0.01)
    progress = [one for one in told if isinstance(one, ToolProgressed)]
    assert 9 <= len(progress) <= 12
    assert progress[-1].text == "99 of 100"
    assert isinstance(told[-1], ToolAnswered)


async def test_tools_that_run_at_once_do_not_silence_each_other():
    told = await heard(progressed("one", "1"), progressed("two", "2"))
    assert [(one.call, one.text) for one in told] == [("1", "one"), ("2", "two")]


async def test_changes_of_state_and_prompts_are_not_told():
    changed = events.StateChanged(agent="a", changes={"k": "v"})
    asked = events.ModelAsked(agent="a", model="m", segments=())
    assert await heard(changed, asked, events.Transferred(agent="a", to="b")) == []
