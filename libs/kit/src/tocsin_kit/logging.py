"""Structured logs: dotted event names with fields, run and event ids bound, secrets masked."""

import logging
import re
import sys
from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence
from logging.handlers import WatchedFileHandler
from typing import Any
from urllib.parse import unquote

import structlog
from pydantic import BaseModel, SecretStr
from structlog.typing import Processor

from tocsin_kit.errors import PermanentError
from tocsin_kit.redaction import Redactor
from tocsin_kit.settings import LogFormat, LogLevel, ServiceSettings

_CHATTY = ("uvicorn", "httpx", "httpcore", "asyncio")
"""Libraries whose lines below a warning tell an operator nothing, and sometimes addresses."""

_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s@]+)@")

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def configure(settings: ServiceSettings, secrets: Collection[str] = ()) -> None:
    """Send every log line of this process, the libraries' too, through one masked pipeline.

    Secrets are those of the settings, and others that they do not hold.
    """
    redactor = Redactor({*secrets_of(settings), *secrets})

    def redact(
        logger: Any, method: str, fields: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        del logger, method
        return {
            name: value if name.startswith("_") else _plain(redactor.value(_shown(value), name))
            for name, value in fields.items()
        }

    shared: list[Processor] = [
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
    handlers = [_console(settings, shared), *_file(settings, shared)]
    least = min(handler.level for handler in handlers)
    logging.basicConfig(handlers=handlers, level=least, force=True)
    logging.raiseExceptions = False  # what cannot be masked is not shown, not even as an error
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    structlog.contextvars.bind_contextvars(service=settings.service)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether to keep a line: uvicorn calls a WebSocket that is answered with a no an error."""
    return record.msg != "ASGI callable returned without completing handshake."


def set_level(level: LogLevel) -> None:
    """Write lines of this level and graver ones to the console, from now on."""
    handlers = logging.getLogger().handlers
    for handler in handlers:
        if not isinstance(handler, WatchedFileHandler):
            handler.setLevel(level)
    logging.getLogger().setLevel(min(handler.level for handler in handlers))


def configure_quietly(settings: ServiceSettings) -> None:
    """Let a command that prints an answer log errors only, unless a level was set."""
    quiet = {} if "log_level" in settings.model_fields_set else {"log_level": LogLevel.ERROR}
    configure(settings.model_copy(update=quiet))


def get(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger of a module."""
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(name)
    return logger


def _console(settings: ServiceSettings, shared: Sequence[Processor]) -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(settings.log_level)
    handler.setFormatter(_formatter(_renderer(settings.log_format), shared))
    return handler


def _file(settings: ServiceSettings, shared: Sequence[Processor]) -> Iterator[logging.Handler]:
    """A file that may be moved away while we write; several processes may share it."""
    if not settings.log_file:
        return
    try:
        handler = WatchedFileHandler(settings.log_file, encoding="utf-8", errors="replace")
    except OSError as error:
        raise PermanentError(
            f"TOCSIN_LOG_FILE: cannot write {settings.log_file!r}: {error.strerror}"
        ) from error
    handler.setLevel(settings.log_file_level)
    handler.setFormatter(_formatter(structlog.processors.JSONRenderer(), shared))
    yield handler


def _formatter(renderer: Processor, shared: Sequence[Processor]) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )


def _shown(value: Any) -> Any:
    """Turn what a renderer would write in its own way into text, so that it can be masked."""
    if isinstance(value, dict):
        return {name: _shown(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def _plain(value: Any) -> Any:
    """Drop what would steer a terminal that shows the log."""
    return _STEERING.sub("", value) if isinstance(value, str) else value


def _renderer(style: LogFormat) -> Processor:
    if style is LogFormat.CONSOLE:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer()


def secrets_of(value: Any) -> set[str]:
    """Collect every SecretStr that settings hold, however deep, and passwords in addresses."""
    if isinstance(value, SecretStr):
        return {value.get_secret_value()}
    if isinstance(value, str):
        return set(map(unquote, _PASSWORD.findall(value)))
    inner: Iterable[Any] = ()
    if isinstance(value, BaseModel):
        inner = (getattr(value, name) for name in type(value).model_fields)
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple | frozenset | set):
        inner = value
    return set().union(*map(secrets_of, inner))
