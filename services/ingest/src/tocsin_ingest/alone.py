"""Read the body of a sender by itself: no bus, no store, nothing but its alerts."""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tocsin_contracts import Alert
from tocsin_ingest import sources
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.decoding import UndecodableError, json_of
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_kit.errors import PermanentError


def main(arguments: Sequence[str]) -> None:
    """Print the alerts of a sender's body as JSON, one a line, as ingest would read them."""
    parser = argparse.ArgumentParser(prog="tocsin-ingest read", description=main.__doc__)
    parser.add_argument("--source", default="alertmanager", help="whose body it is")
    parser.add_argument("file", help="the body, as JSON; - is stdin")
    options = parser.parse_args(arguments)
    try:
        alerts = _alerts(options.source, _read(options.file))
    except PermanentError as error:
        sys.exit(f"tocsin: {error}")
    sys.stdout.writelines(f"{alert.model_dump_json()}\n" for alert in alerts)


def _alerts(source: str, body: bytes) -> list[Alert]:
    try:
        delivery = Delivery(payload=json_of(body), received_at=datetime.now(UTC))
        readings = sources.load()[source].parse(delivery)
    except (UndecodableError, BadPayloadError) as error:
        raise PermanentError(f"the body is nothing that {source!r} sends: {error}") from error
    return [alert_of(reading, Identity(source=source)) for reading in readings]


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise PermanentError(f"cannot read {file!r}: {error}") from error
