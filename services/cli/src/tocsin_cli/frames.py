"""What a person sees of a chat: words as they come, and a line for everything else."""

from rich.console import Console

from tocsin_cli.terminal import one_line, plain, show
from tocsin_contracts.chat import ChatEnding
from tocsin_contracts.chat_frames import (
    ChatState,
    ConfirmationRequestFrame,
    ErrorFrame,
    Frame,
    MessageFrame,
    StatusFrame,
    ToolCallFrame,
    ToolErrorFrame,
    UsageFrame,
)

_SAID = {
    ChatState.RESUMED: "another worker goes on; what follows the last tool is said again",
    ChatState.GAP: "some of it is gone; the history has the answers",
    ChatState.CANCELLING: "asked to stop",
}


class Transcript:
    """Shows frames; `ending` is how the turn ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = False
        self.ending: ChatEnding | None = None

    def take(self, frame: Frame) -> None:
        """Hear a frame."""
        if isinstance(frame, StatusFrame) and frame.state is ChatState.ENDED:
            self.ending = frame.ending

    def show(self, frame: Frame) -> None:
        """Show a frame."""
        if isinstance(frame, MessageFrame):
            text = plain(frame.text)
            self._console.print(text, end="", markup=False, highlight=False, soft_wrap=True)
            self._open = not text.endswith("\n")
        elif told := _line(frame):
            self._end_line()
            show(self._console, told)
        elif self.ending:
            self._end_line()

    def _end_line(self) -> None:
        if self._open:
            self._console.print()
            self._open = False


def _line(frame: Frame) -> str:
    match frame:
        case ToolCallFrame(tool=tool, arguments=given):
            return f"  · {one_line(tool)} {one_line(given)}"
        case ToolErrorFrame(tool=tool, status=status):
            return f"  ! {one_line(tool)}: {one_line(status)}"
        case ConfirmationRequestFrame(tool=tool, arguments=given, until=until):
            return f"{one_line(tool)} {one_line(given)}\nuntil {until:%H:%M:%S %Z}, then it is no"
        case ErrorFrame(error=error, hint=hint):
            return "; ".join(filter(None, (one_line(error), one_line(hint))))
    return _status(frame)


def _status(frame: Frame) -> str:
    if isinstance(frame, UsageFrame) and frame.total:
        total = frame.total
        cost = "cost unknown" if total.cost is None else f"${total.cost:.4f}"
        return f"({', '.join(total.models)}: {total.tokens} tokens, {cost})"
    if not isinstance(frame, StatusFrame):
        return ""
    if frame.state is not ChatState.ENDED:
        return _SAID.get(frame.state, "")
    started = [f"run {one_line(run)} is open: tocsin run watch {run}" for run in frame.started]
    ended = frame.ending is not ChatEnding.ANSWERED and frame.ending is not None
    return "\n".join([*started, *([f"({frame.ending})"] if ended else [])])
