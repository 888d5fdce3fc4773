from tocsin_rca.evidence import LogText

WELL = {"ready": True, "restartCount": 0, "state": {"running": {}}}


async def test_a_program_that_fails_and_runs_on_is_heard(scene):
    scene.deployment()
    scene.pod(**WELL)
    scene.log("ERROR orders: no such host", previous=False)
    case = await scene.case()
    assert [log.data for log in case.logs] == [
        LogText("web-1-a", "app", False, "ERROR orders: no such host")
    ]


async def test_a_log_that_nobody_kept_of_a_program_that_is_well_is_not_missing(scene):
    scene.deployment()
    scene.pod(**WELL)
    case = await scene.case()
    assert case.logs == ()
    assert not [seen for seen in case.missing if seen.evidence.query.startswith("log")]
