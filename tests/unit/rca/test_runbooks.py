import asyncio

import httpx
import pytest

from tocsin_cluster.clusters import OneCluster
from tocsin_contracts import Alert, EvidenceKind, Workload
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_rca import collectors
from tocsin_rca.ports import World
from tocsin_rca.sources import knowledge, pages
from tocsin_rca.sources.knowledge import KnowledgeFolder
from tocsin_rca.sources.pages import RunbookPages

LINK = "https://runbooks.example/pods/KubePodCrashLooping.html"


def alert(title="QueueLong", link="", **changes):
    given = {"annotations": {"runbook_url": link}} if link else {}
    return Alert(
        source="s",
        fingerprint="f",
        status="firing",
        title=title,
        severity="info",
        workload=Workload(namespace="shop", name="web", kind="Deployment"),
        **given,
        **changes,
    )


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return KnowledgeFolder(tmp_path)

    return write


async def where(folder, **given):
    return [found.where for found in await folder.about(alert(**given))]


@pytest.mark.parametrize(
    "given",
    [
        {"title": "KubePodCrashLooping"},
        {"title": "kube pod crash-looping"},
        {"link": LINK},
        {"link": "https://wiki.example/runbooks#kube_pod_crash_looping"},
    ],
    ids=str,
)
async def test_a_file_is_found_by_the_name_of_the_alert_and_of_its_runbook(folder, given):
    files = folder(pods__kube_pod_crash_looping="Look at the logs.", other="Not this.")
    (found,) = await files.about(alert(**given))
    assert (found.where, found.text) == ("pods/kube_pod_crash_looping.md", "Look at the logs.")


async def test_a_file_is_found_by_what_its_front_matter_names(folder):
    files = folder(
        queues="---\nalerts: [QueueLong, QueueDead]\n---\nDrain it.\n",
        web="---\nworkloads: shop/web\n---\nAsk the web team.\n",
        odd="---\nalerts: {QueueLong: 1}\n---\nx",
        broken="---\nalerts: [QueueLong\n---\nx",
        bare="---\nQueueLong\n---\nx",
    )
    assert [found.text for found in await files.about(alert())] == [
        "Drain it.\n",
        "Ask the web team.\n",
    ]


async def test_what_is_about_the_alert_comes_before_what_is_about_its_workload(folder):
    web = "---\nworkloads: [web]\n---\n"
    files = folder(a=web, b=web, c=web, queuelong="x", e__QueueLong="y")
    found = await where(files)
    assert found == ["e/QueueLong.md", "queuelong.md", "a.md"]
    assert len(found) == knowledge.MOST_FOUND


async def test_nothing_is_found_by_an_empty_name(folder):
    assert await where(folder(___="x", web="y"), title="!!!") == []


async def test_a_folder_is_read_as_it_is_when_it_is_asked(folder):
    files = folder(other="x")
    assert await where(files) == []
    folder(QueueLong="y")
    assert await where(files) == ["QueueLong.md"]


async def test_nothing_outside_of_the_folder_is_read(folder, tmp_path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.md"
    secret.write_text("hidden")
    (tmp_path / "QueueLong.md").symlink_to(secret)
    (tmp_path / "sub").symlink_to(secret.parent)
    files = folder(other="x")
    assert await where(files) == []
    assert await where(files, link="https://wiki.example/../../elsewhere/secret") == []


async def test_a_long_or_dirty_file_is_bounded_and_cleaned(folder, tmp_path):
    (tmp_path / "QueueLong.txt").write_bytes(b"a\x1b[31mb\xff\r\n" + b"c" * 500_000)
    (found,) = await folder(other="x").about(alert())
    assert found.text.startswith("ab\ufffd\nc")
    assert len(found.text) <= knowledge.MOST_CHARS


def test_a_folder_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(PermanentError, match="TOCSIN_KNOWLEDGE_DIR"):
        KnowledgeFolder(tmp_path / "absent")


async def found_at(_host, _port):
    return ["192.0.2.7"]


def reading(respond, seconds=5):
    handler = respond if callable(respond) else lambda _: respond
    transport = httpx.MockTransport(handler)
    return RunbookPages(["runbooks.example"], seconds=seconds, transport=transport, find=found_at)


async def test_a_page_is_read_as_it_is_shown():
    html = (
        "<html><head><style>p {}</style><title>Pods</title></head><body><nav>Home</nav>"
        "<h1>Crash &amp; loop</h1><p>Look at\n the <b>logs</b>.</p><ul><li>one<li>two</ul>"
        "<script>alert(1)</script></body></html>"
    )
    (found,) = await reading(httpx.Response(200, html=html)).about(alert(link=LINK))
    assert found.where == LINK
    assert found.text == "Pods\nCrash & loop\nLook at\nthe logs.\none\ntwo"


async def test_a_text_is_read_as_it_is_written_and_bounded():
    response = httpx.Response(
        200, content=b"# Do\n" + b"x" * 10**6, headers={"content-type": "text/markdown; charset=x"}
    )
    (found,) = await reading(response).about(alert(link=LINK))
    assert found.text.startswith("# Do\nx")
    assert len(found.text) <= pages.MOST_CHARS


@pytest.mark.parametrize(
    "link",
    [
        "",
        "https://elsewhere.example/x",
        "https://runbooks.example:8443/x",
        "https://runbooks.example.evil.example/x",
        "https://ana:pass@runbooks.example/x",
        "https://runbooks.example@evil.example/x",
        "file:///etc/passwd",
        "http://[",
    ],
)
async def test_a_host_that_is_not_allowed_is_not_asked(link):
    def respond(request):
        raise AssertionError(request.url)

    assert await reading(respond).about(alert(link=link)) == ()


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (httpx.Response(302, headers={"location": "https://evil.example"}), "has moved"),
        (httpx.Response(404), "answers 404"),
        (httpx.Response(200, json={}), "no text but 'application/json'"),
        (
            httpx.Response(200, headers={"content-type": "text/html", "content-encoding": "br"}),
            "compressed",
        ),
    ],
)
async def test_a_page_that_is_none_says_why(response, why):
    with pytest.raises(PermanentError, match=why):
        await reading(response).about(alert(link=LINK))


async def test_a_host_that_is_silent_is_not_waited_for():
    async def silent(_):
        await asyncio.Event().wait()

    with pytest.raises(TransientError, match="did not come"):
        await reading(silent, seconds=0.01).about(alert(link=LINK))


async def test_a_runbook_is_evidence_and_one_that_is_away_is_missing(
    scene, folder, history, clock, budget
):
    scene.deployment()
    places = (folder(QueueLong="Use password: hunter22secret"), reading(httpx.Response(404)))
    world = World(OneCluster(scene.cluster()), history([]), clock, runbooks=places)
    case = await collectors.collect(alert(link=LINK), world, budget)
    (seen,) = (o.evidence for o in case.observations if o.evidence.kind is EvidenceKind.RUNBOOK)
    assert (seen.source, seen.query) == ("knowledge", "QueueLong.md")
    assert "hunter22secret" not in seen.excerpt
    (missing,) = (o.evidence for o in case.missing if o.evidence.source == "runbook")
    assert (missing.query, missing.excerpt) == (LINK, "its host answers 404 for the runbook")
