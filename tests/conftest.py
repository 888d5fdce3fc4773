"""How every test runs: no slower for what others have imported, and red for no busy machine."""

import gc

from hypothesis import settings

settings.register_profile("tocsin", deadline=None, max_examples=50)
settings.load_profile("tocsin")


def pytest_collection_finish():
    """Leave out of the search for garbage what was imported: it stays, and is most of the heap."""
    gc.collect()
    gc.freeze()
