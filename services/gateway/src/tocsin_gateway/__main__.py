"""Run gateway: `python -m tocsin_gateway`, or `tocsin-gateway`."""

from tocsin_gateway.app import build
from tocsin_kit import service


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
