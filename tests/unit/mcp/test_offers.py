"""Which tools may be used is the operator's word; what a server says can only take away."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_contracts.capability import Capability
from tocsin_mcp.errors import ConfigError
from tocsin_mcp.offers import Standing, capability, offers
from tocsin_mcp.pins import Pins, PinState
from tocsin_testing.mcp import listed, server

READ, WRITE = Capability.READ, Capability.WRITE
HINTS = st.booleans()


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "below" / "pins.json")


def standing(pins, shop, tool):
    pins.accept(shop.name, tool)
    (offer,) = offers(shop, [tool], pins)
    return offer.standing


@pytest.mark.parametrize(
    ("read_only", "destructive", "says"), [*itertools.product((0, 1), repeat=3)]
)
def test_a_tool_reads_only_if_the_server_and_the_operator_say_so(read_only, destructive, says):
    tool = listed("look", read_only_hint=read_only, destructive_hint=destructive)
    shop = server(capabilities={"look": "read"} if says else {})
    only_looks = read_only and not destructive and says
    assert capability(shop, tool) is (READ if only_looks else WRITE)


@given(HINTS, HINTS, st.sampled_from(Capability))
def test_no_hint_makes_a_tool_more_harmless_than_declared(read_only, destructive, declared):
    tool = listed("look", read_only_hint=read_only, destructive_hint=destructive)
    assert capability(server(capabilities={"*": declared}), tool) in (declared, WRITE)


def test_the_first_pattern_that_fits_says_what_a_tool_can_do():
    shop = server(capabilities={"issue_get": "read", "issue_*": "propose"})
    assert capability(shop, listed("issue_get")) is READ
    assert capability(shop, listed("issue_open")) is Capability.PROPOSE


def test_without_allow_nothing_is_offered(pins):
    assert standing(pins, server(allow=[]), listed("look")) is Standing.NOT_ALLOWED
    assert standing(pins, server(allow=["l*"]), listed("look")) is Standing.OFFERED


def test_a_tool_that_nobody_accepted_is_not_offered(pins):
    (offer,) = offers(server(), [listed("look")], pins)
    assert offer.standing is Standing.NOT_ACCEPTED
    assert "`tocsin mcp accept shop look`" in offer.why


def test_what_was_never_seen_is_pinned_if_that_is_trusted(tmp_path):
    pins = Pins(tmp_path / "pins.json", trust_first=True)
    pins.meet("shop", (listed("look"),))
    pins.meet("shop", (listed("look", digest="other"), listed("buy")))
    assert pins.state("shop", listed("look")) is PinState.PINNED
    assert pins.state("shop", listed("look", digest="other")) is PinState.CHANGED
    assert pins.state("shop", listed("buy")) is PinState.PINNED


def test_a_tool_that_changed_is_not_offered_until_it_is_accepted_again(pins):
    pins.accept("shop", listed("look"))
    changed = listed("look", digest="other")
    (offer,) = offers(server(), [changed], pins)
    assert offer.standing is Standing.CHANGED
    assert "`tocsin mcp accept shop look`" in offer.why
    assert standing(pins, server(), changed) is Standing.OFFERED


def test_other_letters_make_no_new_tool(tmp_path):
    pins = Pins(tmp_path / "pins.json", trust_first=True)
    pins.meet("shop", (listed("look"),))
    louder = listed("Look")
    pins.meet("shop", (louder,))
    (offer,) = offers(server(), [louder], pins)
    assert offer.standing is Standing.CHANGED


def test_what_another_process_accepts_counts_at_once(tmp_path):
    ours, theirs = Pins(tmp_path / "pins.json"), Pins(tmp_path / "pins.json")
    assert ours.state("shop", listed("look")) is PinState.NEW
    theirs.accept("shop", listed("look"))
    assert ours.state("shop", listed("look")) is PinState.PINNED
    theirs.accept("shop", listed("look", digest="other"))
    assert ours.state("shop", listed("look")) is PinState.CHANGED


def test_a_pins_file_that_cannot_be_read_trusts_nothing(tmp_path):
    (tmp_path / "pins.json").write_text("{")
    with pytest.raises(ConfigError, match=r"pins\.json"):
        Pins(tmp_path / "pins.json", trust_first=True).meet("shop", (listed("look"),))


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (listed("look at"), "letters"),
        (listed("x" * 65), "letters"),
        (listed("look", parameters={}), "object"),
        (listed("look", parameters={"type": "array"}), "object"),
        (listed("look", parameters={"type": "object", "properties": 3}), "not valid"),
        (listed("look", parameters={"type": "object", "not": {"$ref": "http://a/b"}}), "document"),
        (listed("look", parameters={"type": "object", "title": "x" * 70_000}), "longer"),
    ],
)
def test_a_tool_whose_arguments_cannot_be_checked_is_not_offered(pins, tool, why):
    pins.accept("shop", tool)
    (offer,) = offers(server(), [tool], pins)
    assert offer.standing is Standing.UNUSABLE
    assert why in offer.why


def test_two_tools_of_one_name_are_both_left_out(pins):
    tools = [listed("look"), listed("Look")]
    for tool in tools:
        pins.accept("shop", tool)
    assert {offer.standing for offer in offers(server(), tools, pins)} == {Standing.UNUSABLE}
