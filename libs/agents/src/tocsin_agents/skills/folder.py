"""A folder of skills, read again when a file's checksum has changed."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tocsin_agents.skills.skill import Skill, SkillError, parsed
from tocsin_kit import logging

MOST_BYTES = 64 * 1024
"""Of one file: a skill is read in every call, so it has to be short."""

log = logging.get(__name__)


class Skills(Protocol):
    """Where an agent's skills come from."""

    async def of(self, agent: str) -> Sequence[Skill]:
        """Return what the agent is told now, by name."""


class NoSkills:
    """Nobody has written a skill."""

    async def of(self, agent: str) -> Sequence[Skill]:
        """Return nothing."""
        del agent
        return ()


class SkillFolder:
    """The `*.md` files of a folder; making it reads them all, and SkillError says what is wrong.

    A file that is broken later changes nothing: what was read before stays, and the log says why.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Skill] = {}
        self._skills = self._load()
        self._complaint = ""

    async def of(self, agent: str) -> Sequence[Skill]:
        """Return what the agent is told now, by name."""
        await asyncio.to_thread(self._reload)
        return [skill for skill in self._skills if skill.is_for(agent)]

    def _reload(self) -> None:
        try:
            self._skills, self._complaint = self._load(), ""
        except SkillError as error:
            if str(error) != self._complaint:
                log.warning("agents.skills_not_reloaded", why=str(error))
            self._complaint = str(error)

    def _load(self) -> tuple[Skill, ...]:
        if not self._folder.is_dir():
            raise SkillError(f"skills: there is no folder {str(self._folder)!r}")
        found: dict[str, Skill] = {}
        names: dict[str, str] = {}
        for path in sorted(self._folder.glob("*.md")):
            skill = found[path.name] = self._skill(path)
            taken = names.setdefault(skill.name, path.name)
            if taken != path.name:
                raise SkillError(f"skill file {path.name!r}: name: {taken!r} has it already")
        self._read = found
        return tuple(sorted(found.values(), key=lambda skill: skill.name))

    def _skill(self, path: Path) -> Skill:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SkillError(f"skill file {path.name!r}: cannot be read: {error}") from error
        if len(content) > MOST_BYTES:
            raise SkillError(f"skill file {path.name!r}: text: is longer than {MOST_BYTES} bytes")
        known = self._read.get(path.name)
        if known and known.sha256 == hashlib.sha256(content).hexdigest():
            return known
        return parsed(path.name, content)
