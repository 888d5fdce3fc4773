"""What Slack tells of clicks, as far as we look at it; it is the same by HTTP and by socket."""

from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from tocsin_kit.errors import PermanentError

Id = Annotated[str, Field(max_length=64)]


class Team(BaseModel):
    """A workspace."""

    id: Id = ""


class User(BaseModel):
    """Who clicked; Slack's ids, for a name can be anybody's."""

    id: Id
    team_id: Id = ""


class Place(BaseModel):
    """A channel."""

    id: Id = ""


class Action(BaseModel):
    """The button."""

    action_id: str
    value: str = Field(default="", max_length=2000)


class Typed(BaseModel):
    """What was typed into a field."""

    value: str | None = None


class State(BaseModel):
    """The fields of a window, by block and action."""

    values: dict[str, dict[str, Typed]] = Field(default_factory=dict)


class Window(BaseModel):
    """A window that was sent."""

    callback_id: str = ""
    private_metadata: str = ""
    state: State = State()


class Payload(BaseModel):
    """One interaction."""

    type: str
    user: User
    team: Team | None = None
    api_app_id: Id = ""
    trigger_id: str = ""
    response_url: str = ""
    channel: Place | None = None
    actions: tuple[Action, ...] = ()
    view: Window | None = None


class Memory(BaseModel):
    """What a window remembers of the message it was opened from."""

    value: str
    channel: str


def read(text: str | bytes) -> Payload:
    """Return the interaction; PermanentError for what is none."""
    try:
        return Payload.model_validate_json(text)
    except ValidationError as error:
        raise PermanentError(
            f"slack: a payload with {error.error_count()} fault(s), first: "
            f"{error.errors(include_input=False, include_url=False)[0]}"
        ) from None
