"""Run action: `tocsin-action`; with a command, such as `doctor`, it only prints an answer."""

import sys

from tocsin_action import doctoring
from tocsin_action.app import build
from tocsin_kit import service


def main() -> None:
    """Start the service and stay until a signal, or do one command."""
    if sys.argv[1:2] == ["doctor"]:
        doctoring.main(sys.argv[2:])
    else:
        service.main(build)


if __name__ == "__main__":
    main()
