"""Run ingest: `python -m tocsin_ingest`, or `tocsin-ingest`; with `read`, read one body."""

import sys

from tocsin_ingest import alone
from tocsin_ingest.app import build
from tocsin_kit import service


def main() -> None:
    """Start the service and stay until a signal, or read one body."""
    if sys.argv[1:2] == ["read"]:
        alone.main(sys.argv[2:])
    else:
        service.main(build)


if __name__ == "__main__":
    main()
