"""Structured logs: dotted event names with fields, run and event ids bound, secrets masked."""

import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any

import structlog
from pydantic import BaseModel, SecretStr

from tocsin_kit.redaction import Redactor
from tocsin_kit.settings import LogFormat, ServiceSettings

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def configure(settings: ServiceSettings) -> None:
    """Send every log line of this process, the libraries' too, through one masked pipeline."""
    redactor = Redactor(_secrets(settings))

    def redact(
        logger: Any, method: str, fields: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        del logger, method
        return {name: _plain(redactor.value(value, name)) for name, value in fields.items()}

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redact,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _renderer(settings.log_format),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level, force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(service=settings.service)


def get(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger of a module."""
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return logger


def _plain(value: Any) -> Any:
    """Drop what would steer a terminal that shows the log."""
    return _STEERING.sub("", value) if isinstance(value, str) else value


def _renderer(style: LogFormat) -> structlog.typing.Processor:
    if style is LogFormat.CONSOLE:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer()


def _secrets(value: Any) -> set[str]:
    """Collect every SecretStr that settings hold, however deep."""
    if isinstance(value, SecretStr):
        return {value.get_secret_value()}
    inner: Iterable[Any] = ()
    if isinstance(value, BaseModel):
        inner = (getattr(value, name) for name in type(value).model_fields)
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple | frozenset | set):
        inner = value
    return set().union(*map(_secrets, inner))
