"""However much a sender says, what is kept fits the bus."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_ingest import admission, bounds
from tocsin_testing import build
from tocsin_testing.readings import alerts_of

HUGE = 600 * 1024
LARGEST = 32 * 1024
LABELS = {"alertname": "A", "namespace": "shop", "pod": "cart-0"}


def read(labels=LABELS, **fields):
    """Return the one alert of a notification, as ingest gets it."""
    alert = {"status": "firing", "labels": labels, **fields}
    return alerts_of("alertmanager", {"alerts": [alert]})[0]


def size(alert):
    return len(alert.model_dump_json().encode())


@pytest.mark.parametrize("name", ["summary", "description", "other"])
def test_p1_an_annotation_of_600_kb_becomes_an_alert_that_fits_the_bus(name):
    alert = read(annotations={name: "x" * HUGE})
    assert (alert.title, alert.workload.name) == ("A", "cart")
    assert alert.annotations[name] == "x" * 4095 + "…"
    assert size(alert) < LARGEST


def test_a_text_that_was_cut_ends_with_an_ellipsis_and_one_that_fits_is_whole():
    fits = {"alertname": "a" * 200, "other": "v" * 4096}
    alert = read(fits, annotations={"summary": "s" * 1000})
    assert (alert.title, alert.summary, alert.labels) == ("a" * 200, "s" * 1000, fits)
    longer = {name: f"{value}+" for name, value in fits.items()}
    alert = read(longer, annotations={"summary": "s" * 1001})
    assert (alert.title, alert.summary) == ("a" * 199 + "…", "s" * 999 + "…")
    assert alert.labels["other"] == "v" * 4095 + "…"


def test_p5_the_identity_is_that_of_all_labels():
    long = "x" * HUGE
    one, other = read({**LABELS, "q": f"{long}1"}), read({**LABELS, "q": f"{long}2"})
    assert one.labels == other.labels
    assert one.fingerprint != other.fingerprint


def test_of_many_labels_those_that_say_what_it_is_about_are_kept():
    many = {f"a{number:04}": "x" for number in range(5000)}
    deciding = {**LABELS, "severity": "page", "cluster": "eu-1", "deployment": "cart"}
    alert = read(many | deciding, annotations=many | {"summary": "s", "runbook_url": "r"})
    assert deciding.items() <= alert.labels.items()
    assert {"summary", "runbook_url"} <= set(alert.annotations)
    assert (len(alert.labels), len(alert.annotations)) == (64, 64)
    assert admission.workload(alert.labels) == alert.workload


def test_the_order_of_labels_does_not_decide_which_are_kept():
    many = {f"a{number:04}": "x" for number in range(100)}
    assert read(many).labels == read(dict(reversed(many.items()))).labels


def test_a_label_that_is_too_big_leaves_room_for_the_next():
    wide = {f"a{number}": "\N{FIRE}" * 2000 for number in range(9)}
    alert = read(wide | {"z": "small"}, annotations={"x" * 201: "a name that nobody reads"})
    assert alert.labels["z"] == "small"
    assert alert.annotations == {}


@settings(max_examples=15, deadline=None)
@given(st.sampled_from('x\N{FIRE}\x01"é'), st.integers(1, 90), st.integers(0, 5000))
def test_p1_no_alert_is_larger_than_the_limit(character, count, length):
    text = character * length
    texts = {f"{number}{character}": text for number in range(count)}
    deciding = dict.fromkeys(("alertname", "severity", "namespace", "pod", "cluster"), text)
    payload = {"labels": texts | deciding, "annotations": texts | {"summary": text}}
    alert = read(**payload, generatorURL=f"https://{text}")
    assert size(alert) <= LARGEST


@pytest.mark.parametrize("label", ["namespace", "pod", "cluster", "container"])
def test_a_name_that_kubernetes_could_not_hold_names_no_workload(label):
    assert admission.workload(LABELS | {label: "x" * 253}) is not None
    assert admission.workload(LABELS | {label: "x" * 254}) is None


@pytest.mark.parametrize("link", ["https://h/" + "x" * 2000, "https://h/é", "https://h/\nx"])
def test_a_link_is_kept_whole_or_not_at_all(link):
    assert read(generatorURL=link).link == ""
    assert read(generatorURL="https://h/x").link == "https://h/x"


def test_what_is_short_is_kept_as_it_is():
    alert = build.alert(link="https://h/x", annotations={"z": "1", "a": "2"})
    assert bounds.bounded(alert) == alert


SECRETS = {
    "a bearer token": "curl -H 'Authorization: Bearer c4nary+c4nary/c4nary=='",
    "a token of a forge": "cloning with ghp_c4naryc4naryc4naryc4nary failed",
    "another one": "glpat-c4naryc4nary_c4nary",
    "a chat token": "xoxb-c4nary-c4nary-c4nary",
    "a cloud key": "AKIAC4NARYC4NARYC4NA is not allowed",
    "a signed token": "eyJc4naryc4nary.eyJc4naryc4nary.c4nary-c4nary",
    "an address": "postgres://billing:c4nary@db.shop:5432/billing is down",
    "a key": "-----BEGIN RSA PRIVATE KEY-----\nc4nary\nc4nary\n-----END RSA PRIVATE KEY-----",
    "a variable": "DB_PASSWORD=c4nary-of-ours",
    "a field": '{"client_secret":"c4nary-of-ours"}',
    "a query": "https://h/?api_key=c4nary-of-ours&b=1",
    "a hook": "https://hooks.slack.com/services/T0C4NARY/B0C4NARY/c4naryc4nary",
    "a key that was cut": "-----BEGIN PRIVATE KEY-----\nc4nary\nc4nary",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_p6_a_secret_in_an_alert_goes_no_further(text):
    deciding = dict.fromkeys(("alertname", "severity", "cluster", "container"), text)
    link = f"https://h/{text.partition(' ')[0]}"
    alert = read(
        {**LABELS, **deciding, "other": text},
        annotations={"summary": text, "description": text},
        generatorURL=link,
    )
    assert "c4nary" not in alert.model_dump_json().lower()
    assert "[redacted]" in alert.title
    assert "c4nary" not in admission.incident_key(alert).lower()


def test_p6_what_is_not_secret_stays_beside_what_is():
    alert = read(annotations={"summary": SECRETS["an address"]})
    assert alert.summary == "postgres://[redacted]@db.shop:5432/billing is down"


def test_p6_a_secret_at_the_cut_does_not_show_its_first_half():
    text = "x" * 4086 + " ghp_c4naryc4naryc4naryc4nary"
    assert "c4nary" not in read(annotations={"a": text}).annotations["a"]


def test_p5_alerts_that_differ_in_a_secret_alone_are_two():
    one, other = (read(LABELS | {"url": f"redis://:{word}@h"}) for word in ("one", "two"))
    assert one.labels == other.labels
    assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize("text", ["disk\nfull", "disk \r\n\t full", "\ndisk\u2028full"])
def test_a_title_is_one_line_whatever_was_sent(text):
    assert read({"alertname": text}).title == "disk full"


@pytest.mark.parametrize("text", [" ", "\n", "\u200b", "\x1b[31m", "\x07 \u202e"])
def test_a_title_in_which_nothing_can_be_seen_says_so(text):
    assert read({"alertname": text, "namespace": "shop"}).title == "unnamed alert"


HIDDEN = {
    "a control character": "cart\x07-0",
    "NUL": "cart\x00-0",
    "a colour": "\x1b[31mcart-0\x1b[0m",
    "a title for the terminal": "\x1b]0;pwned\x07cart-0",
    "a change of direction": "cart\u202e-0",
    "an isolate": "cart\u2066-0",
    "a zero width": "cart\u200b-0",
    "a soft hyphen": "cart\u00ad-0",
    "a byte order mark": "cart\ufeff-0",
    "a tag": "cart\U000e0041-0",
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_what_nobody_can_see_is_taken_out_of_every_text_and_said(text):
    labels = {"alertname": text, "namespace": "shop", "pod": text, "severity": text, text: "name"}
    alert = read(labels, annotations={"summary": text, text: text})
    assert alert.cleaned
    assert (alert.title, alert.severity_given, alert.summary) == ("cart-0",) * 3
    assert alert.labels["cart-0"] == "name"
    assert alert.annotations == {"summary": "cart-0", "cart-0": "cart-0"}
    assert (alert.workload.namespace, alert.workload.name) == ("shop", "cart")


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_p5_the_identity_is_that_of_the_labels_as_they_were_sent(text):
    assert read(LABELS | {"a": text}).fingerprint != read(LABELS | {"a": "cart-0"}).fingerprint


@pytest.mark.parametrize(
    "text", ["cart-0", "two\nlines\tand a tab", "two\r\nlines", "Überlast 重い \N{FIRE}", "e\u0301"]
)
def test_what_people_can_see_stays_and_nothing_is_said(text):
    alert = read(annotations={"summary": text})
    assert not alert.cleaned
    assert alert.summary == text.replace("\r\n", "\n")


def test_a_name_that_differs_only_in_what_is_hidden_does_not_take_the_place_of_another():
    for labels in ({"a\u200b": "fake", "a": "real"}, {"a": "real", "a\u200b": "fake"}):
        assert read(LABELS | labels).labels["a"] == "real"


def test_a_secret_with_hidden_characters_in_it_is_masked():
    alert = read(annotations={"a": "ghp_c4nary\u200bc4naryc4naryc4nary"})
    assert alert.annotations["a"] == "[redacted]"


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(st.sampled_from('ab"\\\n'), min_size=1, max_size=8),
        st.text(st.sampled_from('xy"\\\n\t @:'), max_size=300),
        max_size=8,
    )
)
def test_the_short_way_and_the_long_way_keep_the_same(texts):
    plain = read(LABELS | texts, annotations=texts)
    long_way = read(LABELS | texts, annotations=texts | {"z": "\u200b"})
    rest = {name: text for name, text in long_way.annotations.items() if name != "z"}
    assert plain.labels == long_way.labels
    assert plain.annotations == rest or "z" in texts


def test_p6_a_value_whose_name_calls_it_a_secret_goes_no_further():
    given = {"token": "c4nary-of-ours", "db_password": "c4nary-of-ours", "summary": "It is slow."}
    alert = read({**LABELS, "api_key": "c4nary-of-ours"}, annotations=given)
    assert "c4nary" not in alert.model_dump_json()
    assert alert.summary == "It is slow."
