"""Run validation: `python -m tocsin_validation`, or `tocsin-validation`."""

from tocsin_kit import service
from tocsin_validation.app import build


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
