"""The page that tells how to add an alert source holds a whole file, and it works."""

import importlib.util
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin_contracts import Severity
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.ports import BadPayloadError, Delivery

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "alert-source.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def blocks():
    return dict(FENCE.findall(PAGE.read_text(encoding="utf-8")))


@pytest.fixture
def source(blocks, tmp_path):
    file = tmp_path / "plain.py"
    file.write_text(blocks["python"], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("plain_of_the_page", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Plain()


def read(source, payload):
    received = datetime(2026, 3, 2, 11, tzinfo=UTC)
    (reading,) = source.parse(Delivery(payload=payload, received_at=received))
    return alert_of(reading, Identity(source=source.name))


def test_the_file_of_the_page_reads_the_sample_of_the_page(source, blocks):
    alert = read(source, json.loads(blocks["json"]))
    assert (alert.title, alert.status, alert.severity) == ("DiskFull", "firing", Severity.UNKNOWN)
    assert alert.starts_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert (alert.workload.kind, alert.workload.name) == ("StatefulSet", "cart")


def test_the_file_of_the_page_refuses_by_the_name_of_the_field(source):
    with pytest.raises(BadPayloadError, match="not a plain alert: title: Field required"):
        read(source, {})
