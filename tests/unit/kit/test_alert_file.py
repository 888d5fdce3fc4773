"""An alert that a person hands in is read whole, or refused with the place that is wrong."""

import io

import pytest

from tocsin_kit import alert_file
from tocsin_kit.errors import PermanentError
from tocsin_testing import build

ALERT = build.alert()


def test_an_alert_is_read_from_a_file_and_from_stdin(tmp_path, monkeypatch):
    file = tmp_path / "alert.json"
    file.write_text(ALERT.model_dump_json())
    assert alert_file.read(str(file)) == ALERT
    monkeypatch.setattr("sys.stdin", io.StringIO(ALERT.model_dump_json()))
    assert alert_file.read("-") == ALERT


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot read"),
        (b"\xff", "cannot read"),
        (b"{", "is no alert: : Invalid JSON"),
        (b'{"labels": 1}', r"is no alert: \w+: Field required"),
    ],
)
def test_what_is_no_alert_is_refused_with_a_reason(tmp_path, content, why):
    file = tmp_path / "alert.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(PermanentError, match=why):
        alert_file.read(str(file))
