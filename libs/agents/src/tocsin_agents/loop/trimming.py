"""Make a conversation fit: pure, and a call is never separated from its answers.

First the oldest outputs of tools shrink to a note, then the oldest exchanges go. System texts, the
request and the newest exchange stay; the newest outputs shrink only if nothing else is left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from tocsin_agents.messages import Message, Role

CHARACTERS_PER_TOKEN = 3
"""Fewer than a token has in any language of logs and manifests, so a guess is rather too high."""

TOKENS_PER_MESSAGE = 8


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What fits, and how many messages were shortened or left out for it."""

    messages: tuple[Message, ...]
    left_out: int


def tokens(message: Message) -> int:
    """Return about how many tokens a message takes."""
    calls = sum(len(call.name) + len(call.arguments) for call in message.calls)
    return (len(message.text) + calls) // CHARACTERS_PER_TOKEN + TOKENS_PER_MESSAGE


def trimmed(messages: Sequence[Message], room: int, request: int = -1) -> Trimmed:
    """Return the conversation within so many tokens, if it can be made to fit at all.

    `request` is the index of the message that says what is asked.
    """
    groups = [_Group(tuple(group)) for group in _grouped(messages)]
    position = 0
    for group in groups:
        group.stays = group.is_system or position <= request < position + len(group.messages)
        position += len(group.messages)
    if groups:
        groups[-1].newest = True
    _fit(groups, room)
    kept = tuple(chain.from_iterable(group.messages for group in groups if not group.gone))
    left_out = sum(group.cut for group in groups)
    return Trimmed(kept, left_out)


class _Group:
    """Messages that stay or go together: an answer with calls and what the tools said to them."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = messages
        self.stays = False
        self.newest = False
        self.gone = False
        self.cut = 0

    @property
    def is_system(self) -> bool:
        return self.messages[0].role is Role.SYSTEM

    @property
    def unanswered(self) -> bool:
        asked = {call.id for message in self.messages for call in message.calls}
        return bool(asked - {message.call for message in self.messages})

    @property
    def tokens(self) -> int:
        return 0 if self.gone else sum(map(tokens, self.messages))

    def shrink(self) -> None:
        shrunk = tuple(map(_noted, self.messages))
        self.cut = sum(new is not old for new, old in zip(shrunk, self.messages, strict=True))
        self.messages = shrunk

    def go(self) -> None:
        self.gone, self.cut = True, len(self.messages)


def _fit(groups: Sequence[_Group], room: int) -> None:
    older = [group for group in groups if not group.newest]
    goers = [group for group in older if not group.stays and not group.unanswered]
    steps = chain(
        (group.shrink for group in older),
        (group.go for group in goers),
        (group.shrink for group in groups if group.newest),
    )
    left = sum(group.tokens for group in groups)
    for step in steps:
        if left <= room:
            return
        step()
        left = sum(group.tokens for group in groups)


def _grouped(messages: Sequence[Message]) -> Iterator[list[Message]]:
    group: list[Message] = []
    for message in messages:
        if group and message.role is not Role.TOOL:
            yield group
            group = []
        group.append(message)
    if group:
        yield group


def _noted(message: Message) -> Message:
    where = f'; read_output(ref="{message.ref}") gives it again' if message.ref else ""
    note = message.model_copy(update={"text": f"(left out to save room{where})"})
    shorter = message.role is Role.TOOL and len(note.text) < len(message.text)
    return note if shorter else message
