"""Run rca: `tocsin-rca`; with a command, such as `investigate`, it only prints an answer."""

import sys

from tocsin_kit import service
from tocsin_rca import alone, doctoring, replay
from tocsin_rca.app import build
from tocsin_rca.tools import telling

COMMANDS = {
    "investigate": alone.main,
    "replay": replay.main,
    "tools": telling.main,
    "doctor": doctoring.main,
}


def main() -> None:
    """Start the service and stay until a signal, or do one command."""
    command = COMMANDS.get(sys.argv[1]) if sys.argv[1:] else None
    if command:
        command(sys.argv[2:])
    else:
        service.main(build)


if __name__ == "__main__":
    main()
