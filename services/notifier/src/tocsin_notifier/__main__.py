"""Run notifier: `python -m tocsin_notifier`, or `tocsin-notifier`."""

from tocsin_kit import service
from tocsin_notifier.app import build


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
