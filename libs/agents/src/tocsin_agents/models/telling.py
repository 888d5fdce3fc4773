"""Tells an answer's text as it comes, also when it has to be asked for again."""

from tocsin_agents.models.port import OnText

AGAIN = "\n[The answer broke off and starts again.]\n"
"""What a listener is told before the pieces of another try."""


class Telling:
    """Passes pieces on, and knows whether some were; without a listener it does nothing."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._said = False

    @property
    def listener(self) -> OnText | None:
        """What to give to a model."""
        return self._tell if self._on_text else None

    async def again(self) -> None:
        """Say that there is another try, and that what was told so far does not count."""
        said, self._said = self._said, False
        if self._on_text:
            await self._on_text(AGAIN if said else "")

    async def _tell(self, text: str) -> None:
        self._said = self._said or bool(text)
        if self._on_text:
            await self._on_text(text)
