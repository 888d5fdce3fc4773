"""Run rca: `python -m tocsin_rca`, or `tocsin-rca`; with `investigate`, look at one alert."""

import sys

from tocsin_kit import service
from tocsin_rca import alone
from tocsin_rca.app import build


def main() -> None:
    """Start the service and stay until a signal, or investigate one alert."""
    if sys.argv[1:2] == ["investigate"]:
        alone.main(sys.argv[2:])
    else:
        service.main(build)


if __name__ == "__main__":
    main()
