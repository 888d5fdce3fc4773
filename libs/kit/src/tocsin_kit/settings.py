"""Settings that every service shares, and the order in which their sources win."""

import os
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from tocsin_kit import keys
from tocsin_kit.errors import PermanentError

CONFIG_VARIABLE = "TOCSIN_CONFIG"


class LogLevel(StrEnum):
    """How grave a log line is."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"


class LogFormat(StrEnum):
    """How log lines are written."""

    JSON = "json"
    CONSOLE = "console"


class TomlTables(PydanticBaseSettingsSource):
    """Reads `[common]` and the service's own table from the file that TOCSIN_CONFIG names."""

    def __init__(self, settings_cls: type[BaseSettings], service: str) -> None:
        super().__init__(settings_cls)
        self._service = service

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Never used: the whole table is handed over at once."""
        del field
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the merged tables."""
        return {key: value for table in self.tables().values() for key, value in table.items()}

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return each table by name, the stronger last; an unreadable file stops the service."""
        name = os.environ.get(CONFIG_VARIABLE, "")
        if not name:
            return {}
        try:
            tables = tomllib.loads(Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PermanentError(f"{CONFIG_VARIABLE}: cannot read {name!r}: {error}") from error
        own = {table: tables.get(table, {}) for table in ("common", self._service)}
        if not all(isinstance(table, dict) for table in own.values()):
            raise PermanentError(
                f"{CONFIG_VARIABLE}: in {name!r}, 'common' or {self._service!r} is no table"
            )
        return own


class ServiceSettings(BaseSettings):
    """Flags, TOCSIN_* variables, the file, defaults: the first wins. Unknown keys are refused."""

    service: ClassVar[str]
    model_config = SettingsConfigDict(env_prefix="TOCSIN_", frozen=True, extra="forbid")

    nats_url: str = Field(default="nats://127.0.0.1:4222", description="Event bus.")
    redis_url: str = Field(default="redis://127.0.0.1:6379/0", description="Run store.")
    redis_prefix: str = Field(
        default=keys.PREFIX,
        pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$",
        description="What keys in the store begin with; deployments that share one differ in it.",
    )
    host: str = Field(default="127.0.0.1", description="Address that the HTTP port binds to.")
    log_level: LogLevel = Field(
        default=LogLevel.INFO, description="Least level that is written to the console."
    )
    log_format: LogFormat = Field(default=LogFormat.JSON, description="json or console.")
    log_file: str = Field(
        default="", description="File that log lines are also written to, as JSON; empty: none."
    )
    log_file_level: LogLevel = Field(
        default=LogLevel.INFO, description="Least level that is written to that file."
    )
    concurrency: int = Field(default=2, ge=1, le=64, description="Events of one kind at a time.")
    ack_wait: float = Field(
        default=10, gt=0, description="Seconds without a heartbeat until a message is given anew."
    )
    lease_seconds: float = Field(
        default=10, gt=0, description="Seconds a lease on a run outlives its last renewal."
    )
    max_attempts: int = Field(default=5, ge=1, description="Tries before a message is parked.")
    run_ttl_days: float = Field(default=30, gt=0, description="Days a run stays in the store.")
    republish_seconds: float = Field(
        default=2, gt=0, description="Seconds between looks for events that were not acknowledged."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources; the library would also read `.env` and secret folders unasked."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, TomlTables(settings_cls, cls.service)

    @classmethod
    def load(cls, flags: Sequence[str] = ()) -> Self:
        """Read every source; a wrong or unknown value is one PermanentError that names it."""
        try:
            return cls(_cli_parse_args=list(flags) or None, _cli_kebab_case=True)
        except ValidationError as error:
            wrong = "; ".join(
                ": ".join(filter(None, (".".join(map(str, one["loc"])), _said(one["msg"]))))
                for one in error.errors()
            )
            raise PermanentError(f"settings of {cls.service}: {wrong}") from None
        except SettingsError as error:
            raise PermanentError(
                f"settings of {cls.service}: {error}; lists and tables are written as JSON"
            ) from None


def _said(message: str) -> str:
    return message.removeprefix("Value error, ")
