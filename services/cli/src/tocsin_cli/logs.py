"""Where the output of services goes: coloured lines on a terminal, or a file for each."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.text import Text

from tocsin_cli.terminal import plain, show

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_NAME_WIDTH = 11


class ConsoleLog:
    """Prefixes every line with the name of its service, in a colour of its own."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._colours: dict[str, str] = {}

    def __call__(self, name: str, line: str) -> None:
        """Show one line."""
        colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
        prefix = Text(f"{name:<{_NAME_WIDTH}}", colour, no_wrap=True)
        show(self._console, prefix.append(plain(line), "default"))


class FileLog:
    """Writes `<folder>/<service>.log`, a line at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, TextIO] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def __call__(self, name: str, line: str) -> None:
        """Write one line."""
        if name not in self._files:
            path = self._folder / f"{name}.log"
            file = path.open("a", encoding="utf-8", errors="replace", buffering=1)
            self._files[name] = self._open.enter_context(file)
        self._files[name].write(f"{line}\n")

    def tails(self, count: int) -> str:
        """Return the last lines of every file, each with the name of its service."""
        last = (
            f"{name:<{_NAME_WIDTH}}{line}"
            for name in sorted(self._files)
            for line in (self._folder / f"{name}.log")
            .read_text(encoding="utf-8")
            .splitlines()[-count:]
        )
        return "\n".join(last)
