"""Where an operator keeps a secret, said in settings that hold none themselves."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, SecretStr, model_validator

from tocsin_contracts import Value
from tocsin_kit.errors import PermanentError


class SecretRef(Value):
    """Where a secret is kept, which is never in the settings: a variable or a file."""

    model_config = ConfigDict(extra="forbid")

    env: str = Field(default="", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    file: Path | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_place(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or ("env" in given) == ("file" in given):
            raise ValueError('say where it is kept: {env = "NAME"} or {file = "/path"}')
        return given

    @property
    def place(self) -> str:
        """Where it is, in words for an error."""
        return f"environment variable {self.env!r}" if self.env else f"file {str(self.file)!r}"

    def read(self, whose: str) -> SecretStr:
        """Return the secret; a PermanentError names `whose` it is and where it should be."""
        try:
            found = self.file.read_text("utf-8") if self.file else os.environ.get(self.env, "")
        except (OSError, UnicodeDecodeError) as error:
            kind = type(error).__name__
            raise PermanentError(f"{whose}: cannot read {self.place} ({kind})") from None
        if not found.strip():
            raise PermanentError(f"{whose}: {self.place} is not set or empty")
        return SecretStr(found.strip())
