import json
from pathlib import Path

import pytest

from tocsin_contracts import Finding
from tocsin_rca import analyzers
from tocsin_rca.evidence.ranking import ranked

SAMPLES = Path(__file__).parent / "samples"
ANALYZERS = {analyzer.name: analyzer for analyzer in analyzers.load()}


@pytest.mark.parametrize("name", ANALYZERS)
async def test_every_analyzer_finds_exactly_the_fault_of_its_sample(name, investigate):
    case = await investigate(SAMPLES / name)
    expected = json.loads((SAMPLES / name / "expected.json").read_bytes())
    assert ANALYZERS[name].analyze(case) == tuple(map(Finding.model_validate, expected))


@pytest.mark.parametrize("sample", ANALYZERS)
async def test_no_other_analyzer_takes_the_lead_from_the_one_whose_fault_it_is(sample, investigate):
    case = await investigate(SAMPLES / sample)
    leading = ranked(case, analyzers.analyze(case, ANALYZERS.values()))[0]
    assert leading in analyzers.analyze(case, (ANALYZERS[sample],))


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
