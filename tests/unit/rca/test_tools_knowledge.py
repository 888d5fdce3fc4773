"""What people wrote down is found by any words, as the folder is when asked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_rca.evidence.bm25 import Index, words
from tocsin_rca.settings import Settings
from tocsin_rca.sources import knowledge_search
from tocsin_rca.tools import outside

ADA = Identity("ada")
RUNBOOK = """---
alerts: [KubePodCrashLooping]
---
# Payments

Who to call.

## Memory of payments-api

Raise the limit of the container.

```sh
# Retries of payments are no heading
kubectl top pod
```

## Retries

Payments retry for ten minutes.
"""


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "payments.md").write_text(RUNBOOK)
    (tmp_path / "dns.txt").write_text("CoreDNS answers SERVFAIL when its upstream is away.\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG payments")
    (toolset,) = outside.knowledge(Settings(knowledge_dir=tmp_path))

    async def call(name, **arguments):
        (tool,) = (t for t in await toolset.tools(ADA) if t.spec.name == f"knowledge.{name}")
        return await tool.call(arguments, ToolContext(ADA))

    return call


async def places(ask, text, **more):
    found = (await ask("search", words=text, **more)).data
    return [(one["file"], one.get("heading", "")) for one in found.get("passages", [])]


async def test_the_section_that_fits_best_comes_first(ask):
    found = (await ask("search", words="payments memory limit")).data
    assert found["said"] == "4 sections fit 'payments memory limit', the best first, of 5 sections."
    best = found["passages"][0]
    assert (best["file"], best["heading"], best["line"]) == (
        "team/payments.md",
        "Memory of payments-api",
        8,
    )
    assert "Raise the limit" in best["text"]
    assert "# Retries of payments are no heading" in best["text"]


@pytest.mark.parametrize("asked", ["servfail", "core dns", "upstreams", "dns.txt"])
async def test_case_parts_of_names_plurals_and_names_of_files_are_found(ask, asked):
    assert (await places(ask, asked))[0] == ("dns.txt", "")


async def test_what_alerts_are_called_leads_to_what_names_them(ask):
    assert ("team/payments.md", "") in await places(ask, "pod crash looping")


async def test_nothing_fits_what_nobody_wrote(ask):
    answer = await ask("search", words="kafka rebalance")
    assert (answer.status, answer.data) == (
        Status.OK,
        {"said": "0 sections fit 'kafka rebalance', the best first, of 5 sections."},
    )


async def test_what_was_written_since_is_found_and_what_is_gone_is_not(ask, tmp_path):
    assert await places(ask, "kafka") == []
    (tmp_path / "kafka.md").write_text("# Kafka\n\nRebalance by hand.\n")
    assert await places(ask, "kafka") == [("kafka.md", "Kafka")]
    (tmp_path / "kafka.md").write_text("# Queue\n\nRebalance by hand, slowly.\n")
    assert await places(ask, "slowly") == [("kafka.md", "Queue")]
    (tmp_path / "kafka.md").unlink()
    assert await places(ask, "rebalance") == []


async def test_what_has_not_changed_is_read_once(ask, monkeypatch):
    await places(ask, "payments")
    monkeypatch.delattr(knowledge_search, "Index")
    assert await places(ask, "retries", limit=1) == [("team/payments.md", "Retries")]


async def test_files_beyond_what_is_searched_are_counted(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(knowledge_search, "MOST_BYTES", 100)
    found = (await ask("search", words="payments servfail")).data
    assert [one["file"] for one in found["passages"]] == ["dns.txt"]
    assert found["left_out"] == 1


async def test_a_long_text_without_headings_is_cut_into_passages(ask, tmp_path):
    rows = [f"row {number} tells nothing" for number in range(1000)]
    rows[700] = "row 700 names the walrus\x1b[2J\u202e"
    (tmp_path / "long.txt").write_text("\n".join(rows))
    (found,) = (await ask("search", words="walrus")).data["passages"]
    assert len(found["text"]) <= 1200
    assert found["line"] > 500
    assert "\x1b" not in found["text"]


async def test_a_file_is_read_as_it_is(ask):
    assert (await ask("read", file="team/payments.md")).data["text"] == RUNBOOK


@pytest.mark.parametrize("file", ["../secret.md", "/etc/passwd", "picture.png", "team", "x\ny"])
async def test_only_texts_of_the_folder_are_read(ask, tmp_path, file):
    (tmp_path.parent / "secret.md").write_text("tulip")
    answer = await ask("read", file=file)
    assert answer.status is Status.ERROR
    assert "the knowledge has no file" in answer.error


async def test_a_link_that_leads_out_of_the_folder_is_not_searched(ask, tmp_path):
    outside_of_it = tmp_path.parent / f"{tmp_path.name}-secret.md"
    outside_of_it.write_text("tulip tulip")
    (tmp_path / "inside.md").symlink_to(outside_of_it)
    assert await places(ask, "tulip") == []


async def test_a_folder_that_is_gone_knows_nothing(ask, tmp_path):
    assert (await ask("search", words="payments")).status is Status.OK
    tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-elsewhere"))
    assert await places(ask, "payments") == []


def test_no_folder_no_tools():
    assert outside.knowledge(Settings()) == ()


texts = st.lists(st.text("ab c", max_size=12), max_size=8)


@settings(max_examples=60)
@given(texts, st.text("ab c", max_size=6))
def test_exactly_texts_that_share_a_word_are_found_the_best_first(texts, asked):
    found = Index(texts).best(asked, 100)
    sharing = {n for n, text in enumerate(texts) if set(words(text)) & set(words(asked))}
    assert {place for place, _ in found} == sharing
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_a_rare_word_and_a_short_text_count_more():
    index = Index(["pod pod pod", "pod dns", "pod", "pod and a lot of other words about dns"])
    assert [place for place, _ in index.best("dns", 2)] == [1, 3]
    assert index.best("pod dns", 1)[0][0] == 1
