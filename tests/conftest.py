"""How every test runs: no slower for what others have imported, and red for no busy machine."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tocsin_kit.errors import PermanentError
from tocsin_testing import helm_program

settings.register_profile("tocsin", deadline=None, max_examples=50)
settings.load_profile("tocsin")
gc.set_threshold(50_000, 20, 20)  # a test leaves little behind, and to look for it cost a tenth

os.environ["TOCSIN_LOCAL_MODELS_ONLY"] = "1"  # no test asks a model that somebody pays for


def pytest_collection_finish():
    """Leave out of the search for garbage what was imported: it stays, and is most of the heap."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def helm():
    """Return the real helm; only where it cannot be had, a test skips itself."""
    try:
        return str(helm_program.program(Path(__file__).parents[1] / ".tools"))
    except PermanentError as error:
        if "CI" in os.environ:
            pytest.fail(f"helm cannot be had: {error}")
        pytest.skip(f"NOT TESTED with the real helm: {error}")
