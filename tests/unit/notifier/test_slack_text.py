"""Text in Slack: nothing calls people, links or closes a box, and it ends where it has to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_notifier.channels.slack import text

HARD = st.text(alphabet="<&>@a*`\N{PILE OF POO}\N{COMBINING ACUTE ACCENT}\n ", max_size=200)


def utf16(shown):
    return len(shown.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<!channel> hear", "&lt;!channel&gt; hear"),
        ("<@U123> & <#C1|x>", "&lt;@\u200bU123&gt; &amp; &lt;#C1|x&gt;"),
        ("@here, ana@shop", "@\u200bhere, ana@shop"),
        ("&lt;!here&gt;", "&amp;lt;!here&amp;gt;"),
    ],
)
def test_p9_what_others_wrote_stands_for_itself(said, shown):
    assert text.escaped(said, 100) == shown


@settings(max_examples=200)
@given(HARD, st.integers(min_value=1, max_value=120))
def test_a_text_is_cut_after_it_was_escaped_and_never_in_an_entity(said, limit):
    shown = text.escaped(said, limit)
    assert utf16(shown) <= limit
    assert set("<>") & set(shown) == set()
    rest = shown.replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")
    assert "&" not in rest


@settings(max_examples=200)
@given(HARD, st.integers(min_value=60, max_value=300))
def test_p9_a_box_keeps_its_limit_and_nothing_in_it_closes_it(said, limit):
    shown = text.fenced(said, limit)
    assert utf16(shown) <= limit
    assert shown.count("```") == 2
    assert shown.startswith("```\n")


@pytest.mark.parametrize("between", ["\u200b", "\x1b[0m", "\u2060"])
def test_p9_no_letter_that_is_left_out_makes_what_closes_a_box(between):
    assert text.fenced(f"a ``{between}` b", 200).count("```") == 2


@pytest.mark.parametrize("mark", ["\u2028", "\u0085", "\v", "\f", "\r"])
def test_p9_only_the_end_of_a_line_ends_a_line_in_a_box(mark):
    assert "\n-  replicas: 3" not in text.fenced(f" # c{mark}-  replicas: 3", 200)


def test_lines_that_do_not_fit_into_a_box_are_counted():
    shown = text.fenced("\n".join(f"+line {number:03}" for number in range(500)), 400)
    kept = shown.count("+line")
    assert shown.endswith(f"\n… {500 - kept} more lines")
    assert kept > 20


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://git.example/a?b=1&c=2", "<https://git.example/a?b=1&amp;c=2|here>"),
        ("local://shop/1", "local://shop/1"),
        ("https://x|<!channel>", "https://x|&lt;!channel&gt;"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_p9_only_an_address_of_the_web_becomes_a_link(url, shown):
    assert text.link(url, "here") == shown
