"""Reads server-sent events from bytes that arrive in any pieces."""

import codecs
import io


class Events:
    """Hands out the data of each event; however the bytes are cut, the events are the same."""

    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = io.IncrementalNewlineDecoder(decoder, translate=True)
        self._rest = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of every event that the piece completes."""
        return self._lines(self._text.decode(piece))

    def end(self) -> list[str]:
        """Return what the last event said, though its end never came."""
        return self._lines(self._text.decode(b"", final=True) + "\n\n")

    def _lines(self, text: str) -> list[str]:
        *lines, self._rest = (self._rest + text).split("\n")
        return [data for line in lines if (data := self._line(line)) is not None]

    def _line(self, line: str) -> str | None:
        if line:
            field, _, value = line.partition(":")
            if field == "data":
                self._data.append(value.removeprefix(" "))
            return None
        data, self._data = self._data, []
        return "\n".join(data) if data else None
