"""Run action: `python -m tocsin_action`, or `tocsin-action`."""

from tocsin_action.app import build
from tocsin_kit import service


def main() -> None:
    """Start the service and stay until a signal."""
    service.main(build)


if __name__ == "__main__":
    main()
