from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_kit.untrusted import MARK, clean


def test_words_stay_as_they_are():
    text = "naïve Überlauf 😀\n\tpassword=hunter2\n"
    assert clean(text, 100).text == text


def test_terminal_sequences_leave_only_their_words():
    assert (
        clean("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain \x1b(Bend", 100).text == "red plain end"
    )


def test_a_link_for_the_terminal_shows_only_what_a_person_would_see():
    link = "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\"
    assert clean(link, 100).text == "click"


def test_text_cannot_run_backwards():
    assert clean("user\u202e\u2066nimda\u2069", 100).text == "usernimda"


def test_nothing_hides_between_the_letters():
    hidden = "a\u200bb\u200d\u2060c\ufeff\u00ad\u3164\U000e0041\ufe0fd\x00\x08"
    assert clean(hidden, 100).text == "abcd"


def test_every_line_end_becomes_the_same():
    assert clean("a\r\nb\rc\u2028d\x85e", 100).text == "a\nb\nc\nd\ne"


def test_a_long_text_keeps_its_head_and_its_tail():
    cleaned = clean("first" + "x" * 5000 + "last", 100)
    assert cleaned.truncated
    assert len(cleaned.text) == 100
    assert cleaned.text.startswith("first")
    assert cleaned.text.endswith("last")
    assert MARK in cleaned.text


def test_a_text_of_just_the_limit_is_not_cut():
    assert not clean("x" * 100, 100).truncated


@settings(max_examples=150)
@given(st.text(st.characters(codec=None), max_size=80), st.integers(0, 60))
def test_cleaning_holds_its_limit_and_twice_is_once(text, limit):
    cleaned = clean(text, limit)
    assert len(cleaned.text) <= limit
    assert clean(cleaned.text, limit).text == cleaned.text
    assert "\x1b" not in cleaned.text
    cleaned.text.encode()
