"""Write the references that are generated from code, or with `--check` name the stale ones."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from reference import analyzers, asyncapi, checks, cli, events, rights, routes, settings, tools

from tocsin_contracts import schemas

ROOT = Path(__file__).parents[1]


def documents() -> dict[Path, str]:
    """Return the text of every generated file; the same code gives the same bytes."""
    return {
        ROOT / "docs" / "events.md": events.page(ROOT / "services"),
        ROOT / "docs" / "analyzers.md": analyzers.page(),
        ROOT / "docs" / "checks.md": checks.page(),
        ROOT / "docs" / "cli.md": cli.page(),
        ROOT / "docs" / "settings.md": settings.page(),
        ROOT / "docs" / "routes.md": routes.page(),
        ROOT / "docs" / "tools.md": tools.page(),
        ROOT / ".env.example": settings.example(ROOT / "docker-compose.yml"),
        ROOT / "docs" / "asyncapi.json": asyncapi.document(),
        ROOT / "docs" / "rights.md": rights.page(),
        ROOT / "deploy" / "nats" / "users.conf": rights.of_the_bus(),
        ROOT / "deploy" / "valkey" / "users.acl": rights.of_the_store(),
    }


def stale(wanted: Mapping[Path, str]) -> list[str]:
    """Return the files that are missing or differ from what the code says."""
    return [
        str(path.relative_to(ROOT))
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: Sequence[str]) -> int:
    """Write or check everything; 1 means that something has to be done first."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        del os.environ[name]  # the defaults are documented, not this machine's settings
    wanted = documents()
    if "--check" in arguments:
        faults = stale(wanted)
        sys.stderr.writelines(f"{name} is stale: run `just docs`\n" for name in faults)
        return max(schemas.main(arguments), int(bool(faults)))
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return schemas.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
