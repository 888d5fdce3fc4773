"""The pages for operators, and what their buttons do."""

from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from tocsin_contracts.operations import DeadLetterDiscarded, DeadLetterReplayed
from tocsin_contracts.roles import Role
from tocsin_gateway.console import operating as pages
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.refusals import RefusedError
from tocsin_testing import operating
from tocsin_testing.fakes import FakeClock
from tocsin_testing.operating import FakeLetters, FakeStatuses

ANA = Session("ana", "the-csrf-of-ana", Role.OPERATOR)


def request(number="7", query="", **fields):
    body = urlencode({"csrf": ANA.csrf} | fields).encode()

    async def receive():
        return {"type": "http.request", "body": body}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [],
        "query_string": query.encode(),
        "path_params": {"number": number},
    }
    return Request(scope, receive)


class Operator:
    def __init__(self, *letters, seen=None):
        self.letters = FakeLetters(*letters)
        self.pages = pages.Operating(FakeStatuses(seen), self.letters, Renderer(FakeClock()))

    async def see(self, page, session=ANA, **asked):
        return (await getattr(self.pages, page)(request(**asked), session)).body.decode()


async def test_what_is_unknown_is_never_shown_as_healthy():
    text = await Operator().see("services")
    assert "Not healthy: action, notifier, TOCSIN_PARKED." in text
    assert text.count("healthy</span>") == 4
    assert "No process of it was heard of" in text
    assert '<td class="number"><span class="warn">unknown</span></td>' in text
    assert "the forge answers 502" in text


async def test_letters_are_shown_with_their_cause_and_tries():
    text = await Operator(operating.letter(7), operating.letter(9, tries=0)).see("letters")
    assert "2 letters" in text
    assert "no repository holds Deployment" in text
    assert text.index("/dead-letters/9") < text.index("/dead-letters/7")
    assert "its run ended for it" in text


async def test_no_letters_is_said_to_be_an_answer():
    assert "Nothing was given up." in await Operator().see("letters")
    empty = await Operator(operating.letter(7)).see("letters", query="before=7")
    assert "There are no older letters." in empty


async def test_a_letter_is_given_again_by_whoever_is_signed_in():
    operator = Operator(operating.letter(7))
    answer = await operator.pages.replay(request(reason="the forge is back"), ANA)
    assert (answer.status_code, answer.headers["location"]) == (303, "/dead-letters")
    (told,) = operator.letters.told
    assert isinstance(told, DeadLetterReplayed)
    assert (told.by, told.reason, operator.letters.letters) == ("ana", "the forge is back", {})


async def test_a_letter_that_cannot_be_given_again_stays_and_says_why():
    operator = Operator(operating.letter(7))
    operator.letters.kept = "only the beginning of the message is kept"
    answer = await operator.pages.replay(request(), ANA)
    assert answer.status_code == 409
    assert "only the beginning of the message is kept" in answer.body.decode()
    assert list(operator.letters.letters) == [7]


async def test_a_letter_is_thrown_away_for_a_reason_only():
    operator = Operator(operating.letter(7))
    answer = await operator.pages.discard(request(reason=" "), ANA)
    assert answer.status_code == 422
    assert list(operator.letters.letters) == [7]
    await operator.pages.discard(request(reason="a drill"), ANA)
    (told,) = operator.letters.told
    assert isinstance(told, DeadLetterDiscarded)
    assert (told.by, told.reason) == ("ana", "a drill")


@pytest.mark.parametrize("number", ["8", "x", "²", "-1", "9" * 30])
async def test_a_letter_that_is_none_is_404(number):
    with pytest.raises(RefusedError) as refused:
        await Operator(operating.letter(7)).see("letter", number=number)
    assert refused.value.status == 404


async def test_who_may_not_handle_letters_is_offered_no_button():
    viewer = Session("vi", "csrf", Role.VIEWER)
    text = await Operator(operating.letter(7)).see("letter", session=viewer)
    assert "/replay" not in text
    assert "this takes an operator" in text


async def test_places_where_nothing_waits_are_folded_away():
    seen = operating.status()
    place = seen.services[0].consumers[0]
    idle = place.model_copy(update={"lag": 0, "ack_pending": 0, "subject": "tocsin.idle.*"})
    lost = place.model_copy(update={"lag": None, "subject": "tocsin.unknown.*"})
    rca = seen.services[0].model_copy(update={"consumers": (place, idle, lost)})
    seen = seen.model_copy(update={"services": (rca, *seen.services[1:])})
    text = await Operator(seen=seen).see("services")
    assert "1 more where nothing waits" in text
    assert text.index("tocsin.unknown") < text.index('id="idle"') < text.index("tocsin.idle")
