"""Run rca: `python -m tocsin_rca`, or `tocsin-rca`."""

from tocsin_kit import service
from tocsin_rca.app import build


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
