"""What the console lists as deeds is what the audit chains: neither knows of one more."""

from tocsin_gateway.console.audit import DEEDS
from tocsin_kit.audit import AUDITED


def test_every_deed_of_the_console_is_in_the_audit():
    assert set(DEEDS) == set(AUDITED)
