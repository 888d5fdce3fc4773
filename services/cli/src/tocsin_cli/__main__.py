"""Run the command: `tocsin`, or `python -m tocsin_cli`."""

import sys

from tocsin_cli import app


def main() -> None:
    """Run the command line of this process and exit with what became of it."""
    sys.exit(app.main())


if __name__ == "__main__":
    main()
