import os
from datetime import UTC, datetime

from tocsin_contracts import EvidenceKind, Period

TROUBLED = {"ready": False, "restartCount": 2, "state": {"running": {}}}


def of(case, kind):
    return [one.evidence for one in case.observations if one.evidence.kind is kind]


async def seen(scene, kind):
    return of(await scene.case(), kind)


async def test_evidence_says_where_all_of_it_is(scene):
    scene.deployment()
    scene.pod(**TROUBLED)
    scene.log("starting")
    scene.event("BackOff", "back-off restarting")
    scene.commit(["spec", "replicas"], 1, 2)
    case = await scene.case()
    refs = {kind: {one.ref for one in of(case, kind)} for kind in EvidenceKind}
    assert "Deployment shop/web" in refs[EvidenceKind.OBJECT]
    assert refs[EvidenceKind.LOG] == refs[EvidenceKind.EVENT] == {"Pod shop/web-1-a"}
    assert refs[EvidenceKind.COMMIT] == {f"web.yaml@{0:040x}"}


async def test_an_event_tells_about_the_time_from_its_first_sight_to_its_last(scene):
    scene.deployment()
    scene.pod()
    scene.event("BackOff", "back-off restarting", at="2026-03-02T09:00:00Z")
    scene.objects[-1]["firstTimestamp"] = "2026-03-02T08:00:00Z"
    (event,) = await seen(scene, EvidenceKind.EVENT)
    times = (datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (8, 9))
    assert event.window == Period(start=next(times), end=next(times))


async def test_a_clock_that_went_backwards_gives_no_time_that_ends_before_it_begins(scene):
    scene.deployment()
    scene.pod()
    scene.event("BackOff", "back-off restarting", at="2026-03-02T08:00:00Z")
    scene.objects[-1]["firstTimestamp"] = "2026-03-02T09:00:00Z"
    (event,) = await seen(scene, EvidenceKind.EVENT)
    assert event.window.start == event.window.end


async def test_evidence_says_whether_a_secret_was_masked_in_it(scene):
    scene.deployment()
    scene.pod(**TROUBLED)
    scene.log("login with password=hunter2hunter2 failed")
    scene.log("login failed", previous=False)
    shown = await seen(scene, EvidenceKind.LOG)
    assert {one.redacted for one in shown} == {True, False}
    assert not any("hunter2" in one.excerpt for one in shown)


async def test_lines_of_a_log_that_differ_in_numbers_are_shown_once_and_counted(scene):
    scene.deployment()
    scene.pod(**TROUBLED)
    noise = "\n".join(f"09:00:{n % 60:02} took {n} ms" for n in range(500))
    scene.log(f"{noise}\nfatal: no route\n{noise}")
    (log,) = await seen(scene, EvidenceKind.LOG)
    assert log.excerpt == "09:00:00 took 0 ms [and 999 more like it]\nfatal: no route"
    assert log.truncated


async def test_what_a_file_is_called_does_not_break_what_is_said_about_it(scene):
    (scene.folder / os.fsdecode(b"syst\xffemctl\nstatus \x1b[31m kubelet.txt")).write_text("x")
    (check,) = await seen(scene, EvidenceKind.CHECK)
    assert check.query.isprintable()
    assert check.model_dump_json()
