"""P6: secrets through one whole run on real servers, and no reader of anything ever sees one."""

import asyncio
import base64
import json
import re
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import redis
import yaml

from tocsin_contracts import RunState
from tocsin_kit.processes import LOOPBACK
from tocsin_testing.own_model import OwnModel
from tocsin_testing.pipeline import API_TOKEN, FORGE_SECRET, INGEST_TOKEN, pipeline

pytestmark = pytest.mark.e2e

POD = {"namespace": "payments", "pod": "payments-api-7d9c8f6b5-x2x4z", "container": "api"}
WEB = {"kind": "Deployment", "namespace": "storefront", "name": "checkout-web"}
IMAGE = ["spec", "template", "spec", "containers", "[name=web]", "image"]
NAME = "registry.example.com/storefront/checkout-web"

SHAPED = {
    "forge": "ghp_" + "CaNaRy1x" * 4,
    "database": "canary-of-the-dsn",
    "variable": "canary-of-a-variable-7",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJqd3QifQ.c2lnbmF0dXJl",
    "cloud": "AKIA" + "CANARY77" * 2,
}
"""What is a secret by how it looks or by what the text calls it."""

OBJECT = "canary-of-the-vault-91"
HOOK = "canary-of-the-hook-0815"
MODEL_KEY = "key-of-the-tests"
CANARIES = (*SHAPED.values(), OBJECT, HOOK, MODEL_KEY, INGEST_TOKEN, API_TOKEN, FORGE_SECRET)

LEAKY = (
    f"cloned with {SHAPED['forge']}; postgres://app:{SHAPED['database']}@db/x refused; "
    f"DB_PASSWORD={SHAPED['variable']} and {SHAPED['jwt']} as {SHAPED['cloud']}"
)


def written(canary):
    """Return the forms in which a secret could leave."""
    return (canary, quote(canary, safe=""), base64.b64encode(canary.encode()).decode())


def found_in(surfaces):
    """Return where which canary is seen; the secret itself stays out of the report."""
    return [
        (surface, number)
        for surface, text in surfaces.items()
        for number, canary in enumerate(CANARIES)
        if any(form in text for form in written(canary))
    ]


@asynccontextmanager
async def hook():
    """Listen for messages as a channel; yield its address and the bodies it got."""
    bodies = []

    async def serve(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        bodies.append((await reader.readexactly(length)).decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    async with server:
        yield f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}/{HOOK}", bodies


def channels(address):
    """Return the settings with which the notifier tells a hook beside its log."""
    names = json.dumps(["log", "webhook"])
    return {"TOCSIN_NOTIFY_CHANNELS": names, "TOCSIN_NOTIFY_WEBHOOK_URL": address}


def alert(running):
    payload = json.loads(running.scene.payload.read_bytes())
    (first, *_), labels = payload["alerts"], {"deployment": "checkout-web", "container": "web"}
    given = {"alertname": "CheckoutIsSlow", "namespace": "storefront", "cluster": "prod-eu-1"}
    first |= {"labels": given | labels | {"note": SHAPED["forge"]}, "fingerprint": "f00"}
    known = f"the receiver's own {INGEST_TOKEN} and {FORGE_SECRET}"
    first["annotations"] = {"summary": LEAKY, "description": known, "token": SHAPED["variable"]}
    return json.dumps(payload | {"alerts": [first], "commonLabels": given}).encode()


def poison(snapshot: Path):
    """Put a Secret into the recorded cluster, and secrets into a log of it."""
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": OBJECT}}
    secret["metadata"] = {"name": "keys", "namespace": "storefront"}
    (snapshot / "keys.yaml").write_text(yaml.safe_dump(secret), encoding="utf-8")
    log = snapshot / "logs" / POD["namespace"] / POD["pod"] / f"{POD['container']}.log"
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{LEAKY}\n")


def model():
    """Return a model that looks where secrets are, and tells all that it could have seen."""
    change = {"object": WEB, "path": IMAGE, "old": f"{NAME}:3.18.2", "new": f"{NAME}:3.17.5"}
    words = f"{LEAKY}; its key is {MODEL_KEY}"[:480]
    result = {
        "cause": "bad_release",
        "object": WEB,
        "verdict": "confirmed",
        "summary": words,
        "claims": [{"text": words, "evidence": ["m1", "m2"]}],
        "disproof": words,
        "change": change,
    }
    keys = {"kind": "Secret", "namespace": "storefront", "name": "keys"}
    return OwnModel(("logs", POD), ("get", WEB), ("get", keys), ("submit", result))


def console(log):
    """Return where the gateway listens, as it said when it started."""
    started = re.compile(r"gateway-0: .*service\.started +port=(\d+)")
    port = next(found[1] for line in log if (found := started.search(line)))
    return f"http://{LOOPBACK}:{port}"


async def pages(url, run_id):
    """Sign in to the console, and return every page that tells of the run."""
    async with httpx.AsyncClient(base_url=url, follow_redirects=True) as http:
        form = re.search(r'name="csrf" value="([^"]+)"', (await http.get("/login")).text)[1]
        fields = {"csrf": form, "token": API_TOKEN, "next": ""}
        await http.post("/login", data=fields, headers={"origin": url})
        paths = ("/", "/runs", f"/runs/{run_id}", "/audit", "/live", "/deadletters", "/services")
        answers = [await http.get(path) for path in paths]
        assert run_id in answers[2].text, "nobody was signed in"
        return "\n".join(answer.text for answer in answers)


def stored(url):
    """Return every value of the store, as it is and as the store writes it down."""
    with redis.Redis.from_url(url) as client:
        return "\n".join(repr(client.dump(key)) for key in client.scan_iter())


def history(git_dir):
    """Return every commit of the repository with what it changed."""
    asked = ["git", "--git-dir", git_dir, "log", "--all", "-p"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


async def test_p6_no_secret_is_in_logs_events_prompts_messages_pull_requests_or_pages(tmp_path):
    asked = model()
    async with (
        hook() as (address, bodies),
        asked.listening() as settings,
        pipeline(tmp_path, settings=settings | channels(address)) as running,
    ):
        poison(running.scene.world.snapshot)
        receipt = await running.fire(alert(running))
        await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL, seconds=120)
        await running.approve(receipt.run_id)
        await running.reach(receipt.run_id, RunState.PR_OPEN)
        view = await running.gateway.run(receipt.run_id)
        facts = await running.facts()
        surfaces = {
            "logs": "\n".join(running.log),
            "events": "\n".join(fact.model_dump_json() for fact in facts),
            "prompts": json.dumps(asked.asked),
            "messages": "\n".join(bodies),
            "API": view.model_dump_json(),
            "console": await pages(console(running.log), receipt.run_id),
            "store": stored(running.valkey_server.url),
            "pull requests": "\n".join(
                file.read_text(encoding="utf-8")
                for file in sorted(running.scene.records.rglob("*"))
                if file.is_file()
            ),
            "commits": history(running.scene.git_dir),
        }
    assert "[redacted]" in surfaces["events"]
    assert "[redacted]" in surfaces["prompts"]
    assert asked.answers == [], "the model was not asked to the end"
    assert found_in(surfaces) == []
    empty = [name for name, text in surfaces.items() if not text]
    assert empty == [], "what shows nothing proves nothing"
