"""Run validation: `tocsin-validation`; `tocsin-validation resolve` only prints an answer."""

import sys

from tocsin_kit import service
from tocsin_validation import alone
from tocsin_validation.app import build


def main() -> None:
    """Start the service and stay until a signal, or do one command."""
    if sys.argv[1:2] == ["resolve"]:
        alone.main(sys.argv[2:])
    else:
        service.main(build)


if __name__ == "__main__":
    main()
