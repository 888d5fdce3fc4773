"""What chat systems are posted: within their limits, and no text of others is a mark of theirs."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tocsin_notifier import messages
from tocsin_notifier.channels import discord, google_chat, mattermost, teams
from tocsin_notifier.hooks import encoded
from tocsin_notifier.layout import FENCE, Part, cut, fitted, parts, units
from tocsin_notifier.ports import Message
from tocsin_testing import build

CHATS = [teams, discord, mattermost, google_chat]
EVERY_CHAT = pytest.mark.parametrize("chat", CHATS, ids=lambda chat: chat.__name__.split(".")[-1])
LINK = "https://tocsin.example.com/runs/r1"


def message(text="Nobody knows the cause.", title="Run ended", **changes):
    event = build.run_finished()
    return Message("e1", "r1", title, text, event, **({"link": LINK} | changes))


def question():
    asked = build.approval_requested()
    told = messages.render(asked)
    return Message(told.id, told.run_id, told.title, told.text, asked, LINK)


def strings(value):
    """Every string that a body holds."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings(inner)]
    return [value] if isinstance(value, str) else []


# what each system documents


def teams_within(body):
    (attachment,) = body["attachments"]
    assert body["type"] == "message"
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    for block in card["body"]:
        assert block["type"] == "RichTextBlock"
        assert [run["type"] for run in block["inlines"]] == ["TextRun"]
        assert all(run["text"] for run in block["inlines"])
    assert len(encoded(body)) <= teams.LIMIT < 28_000


def discord_within(body):
    (embed,) = body["embeds"]
    assert body["allowed_mentions"] == {"parse": []}
    assert 0 < units(embed["title"]) <= 256
    assert units(embed["description"]) <= 4096
    assert units(embed["title"] + embed["description"] + embed["footer"]["text"]) <= 6000


def mattermost_within(body):
    assert set(body) == {"text"}
    assert units(body["text"]) <= 16_383


def google_chat_within(body):
    assert len(encoded(body)) <= 32_000
    (card,) = body["cardsV2"]
    for widget in card["card"]["sections"][0]["widgets"]:
        assert set(widget) <= {"textParagraph", "buttonList"}
    assert body["thread"] == {"threadKey": "r1"}


WITHIN = {
    teams: teams_within,
    discord: discord_within,
    mattermost: mattermost_within,
    google_chat: google_chat_within,
}
LONG = {
    "many lines": "\n".join(f"- line {number}" for number in range(5000)),
    "one line": "*" * 40_000,
    "a long box": f"Look:\n{FENCE}\n" + "+ <b>&\n" * 9000 + FENCE,
    "beyond": "\N{FIRE}" * 20_000,
}


@EVERY_CHAT
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_body_is_within_the_documented_limits_after_it_was_escaped(chat, text):
    WITHIN[chat](chat.write(message(text, title="[*_" * 66)).body)


@EVERY_CHAT
def test_a_question_is_within_the_documented_limits_and_whole(chat):
    body = chat.write(question()).body
    WITHIN[chat](body)
    shown = " ".join(strings(body))
    for line in ("128Mi", "256Mi", "Approve?"):
        assert line in shown.replace("\\", "")


@EVERY_CHAT
def test_a_message_links_to_its_run_if_there_is_a_console(chat):
    assert LINK in json.dumps(chat.write(message()).body)
    bare = json.dumps(chat.write(message(link="")).body)
    assert "Open in the console" not in bare
    assert '"url": ""' not in bare


HOSTILE = st.text(st.sampled_from("<>&@#*_~|`[]()!:\\/ \u200baZ0"), max_size=40)
CALLS = (
    "@here",
    "@all",
    "@channel",
    "@everyone",
    "<!channel>",
    "<@U12>",
    "<users/all>",
    "<at>a</at>",
)


@pytest.mark.parametrize("call", CALLS)
def test_p9_nobody_is_called_by_what_others_wrote(call):
    said = message(f"hey {call} you", title=f"{call} now")
    assert discord.write(said).body["allowed_mentions"] == {"parse": []}
    (embed,) = discord.write(said).body["embeds"]
    assert not re.search(rf"(?<!\\){re.escape(call)}", embed["description"])
    assert call not in mattermost.write(said).body["text"]
    assert "entities" not in json.dumps(teams.write(said).body)
    shown = google_chat.write(said).body["cardsV2"]
    assert "<users" not in json.dumps(shown)


def test_p9_no_link_shows_itself_as_something_else():
    marked, slackish = "[here](https://evil)", "<https://evil|here>"
    said = message(f"{marked} {slackish}", title=f"{marked} {slackish}", link="")
    (embed,) = discord.write(said).body["embeds"]
    for text in (embed["title"], embed["description"], mattermost.write(said).body["text"]):
        assert marked not in text
        assert slackish not in text
    assert slackish not in json.dumps(google_chat.write(said).body["cardsV2"])


def test_p9_in_a_box_mattermost_reads_none_of_slacks_marks():
    said = message(f"{FENCE}\n+ <!channel> <https://evil|here> a < b\n{FENCE}")
    text = mattermost.write(said).body["text"]
    assert "+ <\u200b!channel> <\u200bhttps://evil|here> a < b" in text


@EVERY_CHAT
@given(said=HOSTILE)
@examples(max_examples=40, deadline=None)
def test_p9_no_text_opens_or_closes_a_box(chat, said):
    told = message(messages._said(said), title=messages._said(said) or "x")
    shown = json.dumps(chat.write(told).body, ensure_ascii=False)
    assert FENCE not in shown


def unescaped(text):
    """Markdown without its backslashes and entities, as people see it."""
    shown, rest = "", text
    while rest:
        rest = rest[1:] if rest[0] == "\\" else rest
        shown, rest = shown + rest[:1], rest[1:]
    return shown.replace("&lt;", "<").replace("&amp;", "&").replace("@\u200b", "@")


PROSE = st.text(st.sampled_from("<>&*_~|`[]()!#+-=\\ aZ0"), min_size=1, max_size=40)
"""A line of a message: one that opens a box is only ever ours."""


@given(said=PROSE.map(messages._unfenced))
@examples(max_examples=60, deadline=None)
def test_what_is_escaped_is_seen_as_it_was_written(said):
    (_, *shown) = mattermost.write(message(said, link="")).body["text"].split("\n")
    assert unescaped("\n".join(shown)) == said


def test_discord_shows_the_diff_in_a_box_and_says_when_it_was():
    embed = discord.write(question()).body["embeds"][0]
    assert "```diff\n" in embed["description"]
    assert embed["timestamp"] == build.approval_requested().at.isoformat()
    assert embed["url"] == LINK


def test_a_diff_in_teams_keeps_its_spaces_and_colours():
    card = teams.write(message(f"See:\n{FENCE}\n-    a: 1\n+    a: 2\n{FENCE}")).body
    runs = [b["inlines"][0] for b in card["attachments"][0]["content"]["body"]][2:]
    assert [(run["text"].replace("\u00a0", " "), run["color"]) for run in runs] == [
        ("-    a: 1", "Attention"),
        ("+    a: 2", "Good"),
    ]
    assert {run["fontType"] for run in runs} == {"Monospace"}


def test_google_shows_one_request_once_in_the_thread_of_its_run():
    query = google_chat.write(message()).query
    assert query == {
        "messageReplyOption": "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD",
        "requestId": "e1",
    }


# the text itself


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb", [Part(("a", "b"))]),
        ("a\n```\n+1\n```\nb", [Part(("a",)), Part(("+1",), code=True), Part(("b",))]),
        ("```\n+1\n\n+2\n```", [Part(("+1", "", "+2"), code=True)]),
        ("", []),
    ],
)
def test_a_text_is_prose_and_boxes(text, found):
    assert list(parts(text)) == found


def test_what_does_not_fit_is_counted_and_its_box_is_closed():
    text = "\n".join(["Look:", FENCE, *(f"+{number}" for number in range(100)), FENCE])
    shown = fitted(text, len, 60).split("\n")
    assert len("\n".join(shown)) <= 60
    assert shown[-2] == FENCE
    kept = sum(line.startswith("+") for line in shown)
    assert shown[-1] == f"… {101 - kept} more lines"


@given(text=st.text("ab\n`", max_size=80), limit=st.integers(20, 90))
@examples(max_examples=80, deadline=None)
def test_a_text_that_fits_is_whole_and_any_other_is_within_its_limit(text, limit):
    shown = fitted(text, len, limit)
    assert len(shown) <= limit
    assert shown == text or len(text) > limit


def test_a_text_is_never_cut_inside_of_what_stands_for_one_character():
    assert cut(["\\*", "\\*", "\\*"], 5) == "\\*\\*…"
    assert cut(["a", "b"], 2) == "ab"
    assert units("\N{FIRE}a") == 3
