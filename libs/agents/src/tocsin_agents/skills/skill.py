"""One skill: a markdown text whose front matter says what it is and which agents it is for."""

import hashlib

import yaml
from pydantic import ConfigDict, Field, ValidationError

from tocsin_agents.instructions.segments import Segment
from tocsin_contracts.base import Value
from tocsin_kit.errors import PermanentError

FENCE = "---"
EVERY_AGENT = "*"


class SkillError(PermanentError):
    """A file is no skill; the message names the file and the field."""


class FrontMatter(Value):
    """What a skill says about itself. `agents` holds names of agents, or `*` for all."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")
    description: str = Field(min_length=1, max_length=1024)
    agents: list[str] = Field(min_length=1)


class Skill(Value):
    """A skill that was read; `sha256` is of the whole file."""

    name: str
    description: str
    agents: tuple[str, ...]
    text: str
    sha256: str

    def is_for(self, agent: str) -> bool:
        """Whether the agent is told it."""
        return EVERY_AGENT in self.agents or agent in self.agents

    @property
    def segment(self) -> Segment:
        """The skill as part of a system text."""
        head = f"# Skill: {self.name}\n{self.description}"
        return Segment(f"skill:{self.name}", f"{head}\n\n{self.text}", stable=True)


def parsed(file: str, content: bytes) -> Skill:
    """Return the skill in a file; SkillError names the file and the field that is wrong."""
    head, text = _split(file, content)
    try:
        matter = FrontMatter.model_validate(head)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        field = ".".join(map(str, wrong["loc"])) or "front matter"
        raise SkillError(f"skill file {file!r}: {field}: {wrong['msg']}") from None
    return Skill(
        name=matter.name,
        description=matter.description,
        agents=tuple(matter.agents),
        text=text,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _split(file: str, content: bytes) -> tuple[object, str]:
    try:
        lines = content.decode().removeprefix("\ufeff").splitlines()
    except UnicodeDecodeError as error:
        raise SkillError(f"skill file {file!r}: text: is not UTF-8: {error}") from None
    first, *rest = [line.rstrip() for line in lines] or [""]
    if first != FENCE or FENCE not in rest:
        raise SkillError(
            f"skill file {file!r}: front matter: has to stand first, between two lines of {FENCE}"
        )
    end = rest.index(FENCE)
    try:
        head = yaml.safe_load("\n".join(rest[:end]))
    except yaml.YAMLError as error:
        raise SkillError(f"skill file {file!r}: front matter: is not YAML: {error}") from None
    text = "\n".join(rest[end + 1 :]).strip()
    if not text:
        raise SkillError(f"skill file {file!r}: text: is empty; write what the agent should know")
    return head, text
