from collections import Counter

import pytest

from tocsin_rca import analyzers

ANALYZERS = {analyzer.name: analyzer for analyzer in analyzers.load()}
LONGEST = 160


@pytest.mark.parametrize("name", ANALYZERS)
@pytest.mark.parametrize("what", ["needs", "proof", "against"])
def test_every_analyzer_states_it_in_one_short_sentence(name, what):
    text = getattr(ANALYZERS[name], what)
    assert 0 < len(text) <= LONGEST
    assert text.endswith(".")
    assert text == " ".join(text.split())


def test_no_two_analyzers_are_proven_by_the_same_thing():
    proofs = Counter(analyzer.proof for analyzer in ANALYZERS.values())
    assert [proof for proof, count in proofs.items() if count > 1] == []
