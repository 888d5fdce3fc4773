"""What the events of a chat have of their own, in a form that holds."""

from collections.abc import Callable, Mapping

from tocsin_contracts import Event
from tocsin_contracts.chat import ChatAnswered, ChatAsked, ChatEnding
from tocsin_testing.values import Fields

CHAT_FIELDS: Mapping[type[Event], Callable[[str], Fields]] = {
    ChatAsked: lambda _: {
        "turn": "t1",
        "question": "Why does it restart?",
        "by": "ana",
        "surface": "gateway",
    },
    ChatAnswered: lambda _: {
        "turn": "t1",
        "ending": ChatEnding.ANSWERED,
        "words": "Its memory was halved.",
        "by": "ana",
        "surface": "gateway",
    },
}
