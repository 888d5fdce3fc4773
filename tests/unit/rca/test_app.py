import sys

import pytest

from tocsin_rca.__main__ import main


def test_a_snapshot_that_is_not_there_ends_the_start_with_one_line(tmp_path, monkeypatch):
    snapshot = str(tmp_path / "nowhere")
    monkeypatch.setattr(sys, "argv", ["tocsin-rca", "--cluster-snapshot", snapshot])
    with pytest.raises(SystemExit) as ended:
        main()
    (line,) = str(ended.value).splitlines()
    assert line.startswith(f"tocsin: no snapshot at {snapshot!r}")
