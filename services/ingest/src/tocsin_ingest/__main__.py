"""Run ingest: `python -m tocsin_ingest`, or `tocsin-ingest`."""

from tocsin_ingest.app import build
from tocsin_kit import service


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
