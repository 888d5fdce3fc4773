"""`tocsin audit` against real servers: it says that the audit is whole, or where it is broken."""

import asyncio
import json

import pytest

from tocsin_cli.app import main
from tocsin_kit import keys, store
from tocsin_kit.audit import Chain
from tocsin_kit.audit_chain import Key
from tocsin_kit.ensure import ensure
from tocsin_testing import build

pytestmark = pytest.mark.servers

KEY = b"k" * 32


@pytest.fixture
def audited(own_nats_server, valkey_server, tmp_path, monkeypatch):
    """Return what writes decisions into the audit, sealed; the command has the key."""
    (tmp_path / "key").write_bytes(KEY)
    monkeypatch.setenv("TOCSIN_NATS_URL", own_nats_server.url)
    monkeypatch.setenv("TOCSIN_REDIS_URL", valkey_server.url)
    monkeypatch.setenv("TOCSIN_AUDIT_KEY_FILE", str(tmp_path / "key"))

    async def write(count):
        await ensure(own_nats_server.url, ack_wait=10)
        client = store.connect(valkey_server.url)
        await client.delete(keys.audit_chain(), keys.audit_facts())
        chain = Chain(client, Key(KEY))
        for number in range(1, count + 1):
            await chain.append(number, build.approval_granted(id=f"{number:032x}"))
        await client.aclose()

    return lambda count: asyncio.run(write(count))


async def _tampered(url):
    """Let the only entry say another name, as somebody with every right to the store could."""
    client = store.connect(url)
    ((id, fields),) = await client.xrange(keys.audit_chain())
    await client.delete(keys.audit_chain())
    fields["entry"] = fields["entry"].replace("ana", "bob")
    await client.xadd(keys.audit_chain(), fields, id=id)
    await client.aclose()


def test_an_audit_that_holds_is_said_to_be_whole(audited, capsys):
    audited(2)
    assert main(["audit", "verify"]) == 0
    said = capsys.readouterr().out
    assert "2 entries, seals checked" in said
    assert "The audit is whole." in said


def test_p6_the_first_broken_link_is_named_and_the_exit_code_says_so(
    audited, valkey_server, capsys
):
    audited(1)
    asyncio.run(_tampered(valkey_server.url))
    assert main(["audit", "verify"]) == 1
    assert "BROKEN at entry 1" in capsys.readouterr().out
    assert main(["audit", "verify", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["broken"]["number"] == 1
    assert "was changed" in told["broken"]["fault"]


def test_an_export_holds_every_entry_and_replaces_no_file(audited, tmp_path, capsys):
    audited(3)
    out = tmp_path / "audit.jsonl"
    assert main(["audit", "export", "--out", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]
    assert main(["audit", "export", "--out", str(out)]) == 1
    assert "cannot write" in capsys.readouterr().err
