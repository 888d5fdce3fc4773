"""The AsyncAPI 3 document: every consumer of every service, from brokers that never connect."""

import importlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from faststream.nats import NatsBroker
from faststream.specification import AsyncAPI

from tocsin_cli.stack import SERVICES
from tocsin_contracts import PREFIX


def document() -> str:
    """Return the document as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        brokers = [_broker(service, Path(folder)) for service in SERVICES]
    api = AsyncAPI(
        *brokers,
        title="Tocsin",
        version="1",
        description=f"What each service consumes. Subjects begin with `{PREFIX}`; see events.md.",
    )
    content = api.to_specification().to_jsonable()
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _broker(service: str, folder: Path) -> NatsBroker:
    """Wire a service as it wires itself, with nothing but placeholders outside."""
    settings = importlib.import_module(f"tocsin_{service}.settings").Settings
    flags = [
        word
        for name, value in _placeholders(folder)
        if name in settings.model_fields
        for word in (f"--{name.replace('_', '-')}", value)
    ]
    broker: NatsBroker = (
        importlib.import_module(f"tocsin_{service}.app").build(flags).parts.bus.broker
    )
    return broker


def _placeholders(folder: Path) -> Iterator[tuple[str, str]]:
    gitops, snapshot = folder / "gitops.yaml", folder / "snapshot"
    gitops.write_text("repositories: []\n", encoding="utf-8")
    snapshot.mkdir(exist_ok=True)
    yield "nats_url", "nats://localhost:4222"
    yield "gitops_file", str(gitops)
    yield "cluster_snapshot", str(snapshot)
    yield "ingest_tokens", '["placeholder-placeholder"]'
    yield "api_tokens", '{"placeholder": "placeholder-placeholder"}'
