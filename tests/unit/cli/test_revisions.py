from datetime import UTC, datetime

import pytest

from tocsin_cli.cases import revisions
from tocsin_cli.cases.recorded import Item, Recorded

NOW = """\
spec:
  containers:
  - name: app
    image: web:2
    readinessProbe:
      httpGet:
        path: /ready
"""
ALERT = {"labels": {"alertname": "A"}, "startsAt": "2026-03-02T09:00:00Z"}
CHANGE = "-    image: web:1\n+    image: web:2\n"


def told(text):
    return revisions.commits(
        Recorded("one", ALERT, {"web.yaml": NOW}, (Item("git_history", text=text),))
    )


@pytest.mark.parametrize(
    ("date", "at"),
    [
        ("Date: 2026-03-02T08:41:00Z\n", datetime(2026, 3, 2, 8, 41, tzinfo=UTC)),
        (
            "Author: a <a@b>\nDate:   Mon Mar 2 08:41:00 2026 +0000\n",
            datetime(2026, 3, 2, 8, 41, tzinfo=UTC),
        ),
        ("Date: yesterday at noon\n", datetime(2026, 3, 2, 8, 50, tzinfo=UTC)),
        ("", datetime(2026, 3, 2, 8, 50, tzinfo=UTC)),
    ],
)
def test_the_message_is_no_part_of_the_change_and_its_time_is_that_of_the_commit(date, at):
    first, last = told(f"commit 91be2f4aa\n{date}    bump web\n{CHANGE}")
    assert (last.subject, last.at) == ("bump web", at)
    assert first.files["web.yaml"].decode() == NOW.replace("web:2", "web:1")
    assert first.at < last.at


def test_lines_around_a_change_say_where_it_was():
    text = "commit 91be2f4aa\n       httpGet:\n-        path: /\n+        path: /ready\n"
    first, _ = told(text)
    assert first.files["web.yaml"].decode() == NOW.replace("/ready", "/")


def test_changes_of_which_only_the_lines_were_kept_are_found_apart_from_each_other():
    text = f"commit 91be2f4aa\n{CHANGE}-        path: /\n+        path: /ready\n"
    first, _ = told(text)
    before = NOW.replace("/ready", "/").replace("web:2", "web:1")
    assert first.files["web.yaml"].decode() == before
