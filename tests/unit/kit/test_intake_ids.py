"""The run of an episode is the same one after every crash and redelivery."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_kit.intake import run_id_of
from tocsin_testing import build

WORDS = st.text(max_size=20)


@settings(max_examples=50)
@given(WORDS, WORDS, WORDS)
def test_p1_the_same_episode_has_the_same_run_and_any_text_makes_a_legal_id(key, who, start):
    run_id = run_id_of(key, who, start)
    assert run_id == run_id_of(key, who, start)
    assert build.alert_accepted(run_id=run_id).run_id == run_id


def test_another_incident_alert_or_start_is_another_run():
    runs = {
        run_id_of("i", "f", "1"),
        run_id_of("j", "f", "1"),
        run_id_of("i", "g", "1"),
        run_id_of("i", "f", "2"),
    }
    assert len(runs) == 4
