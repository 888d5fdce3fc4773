import json
from pathlib import Path

import pytest

from tocsin_rca import analyzers

SAMPLES = Path(__file__).parent / "samples"
ANALYZERS = {analyzer.name: analyzer for analyzer in analyzers.load()}


@pytest.mark.parametrize("name", ANALYZERS)
async def test_every_analyzer_finds_exactly_the_fault_of_its_sample(name, investigate):
    case = await investigate(SAMPLES / name)
    found = [f.model_dump(mode="json") for f in ANALYZERS[name].analyze(case)]
    assert found == json.loads((SAMPLES / name / "expected.json").read_bytes())


@pytest.mark.parametrize("name", ANALYZERS)
@pytest.mark.parametrize("sample", ANALYZERS)
async def test_no_other_analyzer_mistakes_the_fault_for_its_own(name, sample, investigate):
    if name != sample:
        case = await investigate(SAMPLES / sample)
        assert ANALYZERS[name].analyze(case) == ()


@pytest.mark.parametrize("name", ANALYZERS)
async def test_every_analyzer_finds_nothing_in_a_healthy_cluster(name, investigate):
    assert ANALYZERS[name].analyze(await investigate(SAMPLES / "healthy")) == ()


@pytest.mark.parametrize("name", ANALYZERS)
async def test_a_finding_points_only_at_evidence_that_exists(name, investigate):
    case = await investigate(SAMPLES / name)
    ids = {seen.id for seen in case.observations}
    for finding in ANALYZERS[name].analyze(case):
        assert finding.evidence
        assert ids.issuperset(finding.evidence)
