"""What a server says is made fit to be read, and is never longer than wanted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_kit.redaction import Redactor
from tocsin_mcp import credentials
from tocsin_mcp.answers import answer
from tocsin_mcp.config import Server
from tocsin_mcp.entries import CredentialSource
from tocsin_mcp.errors import LostError
from tocsin_mcp.schema import cleaned, digest
from tocsin_mcp.stderr import LINES, LONGEST, Said
from tocsin_testing.mcp import server

LIMIT = 2000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def text(said):
    return {"type": "text", "text": said}


def test_an_answer_is_its_texts_and_names_what_is_no_text():
    blocks = [text("one"), {"type": "image", "data": "AAAA"}, {"type": "resource_link", "uri": "u"}]
    assert answer(blocks, None, is_error=False, limit=LIMIT).text == (
        "one\n[image, not shown]\n[resource u]"
    )


def test_what_steers_a_terminal_or_cannot_be_seen_is_dropped():
    assert answer([text("a\x1b[31m\u200bb")], None, is_error=False, limit=LIMIT).text == "ab"


@given(st.lists(st.text(max_size=3000), max_size=3), JSON)
def test_no_answer_is_longer_than_wanted(texts, structured):
    given_answer = answer(
        [text(one) for one in texts], {"it": structured}, is_error=True, limit=LIMIT
    )
    assert len(given_answer.text) <= LIMIT
    assert given_answer.structured in (None, {"it": structured})
    assert given_answer.is_error


def test_an_object_that_is_too_long_is_left_out_whole():
    long = answer([text("x")], {"items": ["y" * LIMIT]}, is_error=False, limit=LIMIT)
    assert long.structured is None
    assert long.truncated


def test_prose_in_a_schema_is_cleaned_and_its_names_are_kept():
    schema = {
        "properties": {"description": {"description": "a\u200b" + "b" * 900, "enum": ["\u200b"]}}
    }
    inner = cleaned(schema)["properties"]["description"]
    assert inner["description"].startswith("ab")
    assert len(inner["description"]) <= 512
    assert inner["enum"] == ["\u200b"]


SAID = st.fixed_dictionaries({key: st.text(max_size=5) for key in ("name", "description")})


@given(SAID, SAID)
def test_any_change_to_what_is_said_changes_the_digest(said, other):
    assert (digest(said) == digest(other)) == (said == other)
    assert digest(said) != digest({**said, "more": None})


def test_the_order_of_what_is_said_does_not_matter():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})


def test_a_server_that_does_not_stop_talking_is_logged_up_to_a_bound():
    said = Said(Server("shop", server().entry, Redactor(["sesame-open"])))
    for number in range(LINES * 3):
        said.take(f"{number} sesame-open " + "x" * 900)
    assert len(said.last) == 3
    assert all(len(line) <= LONGEST and "sesame" not in line for line in said.last)


def test_what_was_read_for_one_connection_is_masked_too():
    said = Said(server())
    said.hide(["Bearer fresh-and-secret"])
    said.take("my header is Bearer fresh-and-secret, the token fresh-and-secret")
    assert "fresh" not in said.last[0]


async def test_credentials_are_read_anew_each_time(tmp_path):
    file = tmp_path / "headers"
    source = CredentialSource(file=file)
    for token in ("one", "two"):
        file.write_text(f"Authorization: Bearer {token}\n\n")
        assert await credentials.read(source, ":") == {"Authorization": f"Bearer {token}"}


async def test_credentials_come_from_a_command_that_sees_no_variable_of_ours(monkeypatch):
    monkeypatch.setenv("TOCSIN_API_TOKEN", "ours")
    source = CredentialSource(command=("env",))
    assert set(await credentials.read(source, "=")) == {"PATH"}


@pytest.mark.parametrize("command", [("nothere",), ("false",), ("echo", "sesame")])
async def test_credentials_that_cannot_be_had_are_named_and_never_shown(command):
    with pytest.raises(LostError, match=command[0]) as lost:
        await credentials.read(CredentialSource(command=command), ":")
    assert "sesame" not in str(lost.value)
