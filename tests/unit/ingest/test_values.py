"""What senders' words mean, whoever says them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import values

WORDS = [
    (severity, word) for severity, words in values.SEVERITIES.items() for word in words.split()
]
KNOWN = {word for _, word in WORDS}
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
DIGITS = st.text("0123456789", max_size=12)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
OURS = st.integers(800_000_000_000_000, 3_900_000_000_000_000).map(
    lambda micros: EPOCH + micros * MICROSECOND
)


def spellings(word):
    return st.tuples(
        st.sampled_from(["", " ", "\t"]),
        st.sampled_from([word, word.upper(), word.title()]),
        st.sampled_from(["", " "]),
    ).map("".join)


@settings(max_examples=60)
@given(at=OURS, zone=OFFSETS, fraction=DIGITS)
def test_every_time_of_rfc_3339_is_read_to_the_microsecond(at, zone, fraction):
    local = at.replace(microsecond=0).astimezone(zone)
    written = local.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "")
    hours, minutes = divmod(abs(int(zone.utcoffset(None).total_seconds())) // 60, 60)
    sign = "-" if zone.utcoffset(None) < timedelta() else "+"
    expected = at.replace(microsecond=int(f"{fraction:0<6}"[:6]))
    read = values.moment(f"{written}{sign}{hours:02}:{minutes:02}")
    assert (read, read.utcoffset()) == (expected, timedelta())


@settings(max_examples=60)
@given(at=OURS, below=st.integers(0, 999))
def test_a_number_since_1970_is_read_in_whatever_unit_it_counts(at, below):
    micros = (at - EPOCH) // MICROSECOND
    seconds, millis, nanos = micros // 1_000_000, micros // 1000, micros * 1000 + below
    whole, thousandth = at.replace(microsecond=0), at.replace(microsecond=millis % 1000 * 1000)
    for number, expected in ((seconds, whole), (millis, thousandth), (micros, at), (nanos, at)):
        assert values.moment(number) == values.moment(str(number)) == expected
    assert values.moment(f"{seconds}.{micros % 1_000_000:06}") == at


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-01T00:00:00Z", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01t00:00:00z", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01 00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01 00:00:00 UTC", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T01:00:00+01.00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T01:00:00+0100", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2025-12-31T23:59:60Z", datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (1576578404.933, datetime(2019, 12, 17, 10, 26, 44, 933000, tzinfo=UTC)),
        (1420452374669001603, datetime(2015, 1, 5, 10, 6, 14, 669001, tzinfo=UTC)),
        ("1.7672256e9", datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_as_it_was_meant(given, expected):
    assert values.moment(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        *(None, "", " ", 0, -1, "0", "-1", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        *("9999-12-31T23:59:59.999999999+14:00", 10**30, "9" * 60, "9e99", "-", "null"),
        *("$DATE", "{{date}}", "{ProblemStart}", "<no value>", "unknown", "N/A"),
    ],
)
def test_where_no_time_is_said_there_is_none(given):
    assert values.moment(given) is None


@pytest.mark.parametrize("given", ["yesterday", "2026-13-45T99:00:00Z", "0000-00-00", "5 minutes"])
def test_what_is_no_time_is_a_fault_that_shows_it(given):
    with pytest.raises(ValueError, match=given):
        values.moment(given)


@settings(max_examples=60)
@given(st.sampled_from(WORDS).flatmap(lambda one: st.tuples(st.just(one[0]), spellings(one[1]))))
def test_a_known_severity_is_known_in_any_case(known):
    severity, spelt = known
    assert values.severity(spelt) is severity


@settings(max_examples=60)
@given(st.text(max_size=20))
def test_any_other_severity_is_unknown(text):
    plain = "".join(text.split()).lower()
    for separator in "_.-":
        plain = plain.replace(separator, "")
    if plain not in KNOWN:
        assert values.severity(text) is Severity.UNKNOWN


@pytest.mark.parametrize(
    "given", [*map(str, range(8)), "10", "-1", "Sev 7", "very critical", "", "alerts"]
)
def test_a_severity_is_never_guessed(given):
    assert values.severity(given) is Severity.UNKNOWN


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (values.AZURE, "critical critical warning info info unknown"),
        (values.ZABBIX, "unknown info warning warning critical critical unknown"),
        (values.GRAYLOG, "unknown info warning critical critical unknown"),
        (values.SYSLOG, "critical critical critical critical warning info info info unknown"),
        (values.NAGIOS_SERVICE, "none warning critical unknown unknown"),
        (values.NAGIOS_HOST, "none critical critical unknown"),
        (values.SEVS, "critical critical warning warning unknown"),
    ],
)
def test_a_number_means_what_the_documentation_of_its_sender_says(scale, expected):
    numbers = range(len(expected.split()))
    assert [values.severity(str(number), scale) for number in numbers] == expected.split()
    assert values.severity("critical", scale) is Severity.CRITICAL


def test_azures_sev3_is_harmless_and_everybody_elses_is_not():
    assert values.severity("Sev3", values.AZURE) is Severity.INFO
    assert values.severity("Sev3") is Severity.WARNING


def test_no_word_says_two_severities():
    assert len(KNOWN) == len(WORDS)


@settings(max_examples=40)
@given(st.text(max_size=20) | st.sampled_from(["firing", "problem", "not resolved", "reopened"]))
def test_only_a_known_word_is_a_resolve(text):
    known = text.strip().lower() in values.RESOLVED.split()
    assert values.status(text) is (AlertStatus.RESOLVED if known else AlertStatus.FIRING)


@pytest.mark.parametrize(
    ("target", "base", "expected"),
    [
        ("https://a/b?c=d#e", "", "https://a/b?c=d#e"),
        ("/graph", "https://mimir:9090/x/", "https://mimir:9090/graph"),
        ("graph", "https://mimir:9090/x/", "https://mimir:9090/x/graph"),
        ("javascript:alert(1)", "https://mimir", ""),
        ("JavaScript:alert(1)", "", ""),
        ("data:text/html,x", "https://mimir", ""),
        ("ftp://a/b", "", ""),
        ("/graph", "", ""),
        ("/graph", "javascript:x", ""),
        ("https://user:secret@a/b", "", ""),
        ("https://[", "", ""),
        ("https://a/\u202eb", "", ""),
        ("https:///b", "", ""),
        ("dontcare", "", ""),
    ],
)
def test_a_link_leads_to_a_host_over_http_or_nowhere(target, base, expected):
    assert values.link(target, base) == expected


def test_links_that_lead_nowhere_are_left_out():
    assert values.links({"a": "https://a", "b": "x:y", "c": "", "d": None}) == {"a": "https://a"}


FRACTIONS = st.text("0123456789", min_size=1, max_size=9).map(".{}".format)


@given(at=OURS, fraction=st.just("") | FRACTIONS, offset=OFFSETS)
@settings(max_examples=60)
def test_a_plain_time_means_what_the_same_time_means_that_has_to_be_repaired(at, fraction, offset):
    whole = at.astimezone(offset).replace(microsecond=0).isoformat()
    plain = whole[:19] + fraction + whole[19:]
    assert values.moment(plain) == values.moment(plain.replace("T", "t"))


@pytest.mark.parametrize("rest", ["", ":9093", "/", "/a?b=c#d", "?q=a@b", ":9093/#/alerts?x=%20"])
def test_a_plain_link_means_what_the_same_link_means_that_has_to_be_looked_at(rest):
    plain = f"https://alerts.example.com{rest}"
    assert values.link(plain) == values.link(f" {plain} ") == plain
