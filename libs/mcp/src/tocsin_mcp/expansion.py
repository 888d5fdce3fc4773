"""Variables in servers.yaml: `${NAME}` is the environment's, and an unset one is an error."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_mcp.errors import ConfigError

_VARIABLE = re.compile(r"\$(\$)?\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Use:
    """A variable that was put into a field."""

    field: str
    value: str


def expand(value: Any, where: str, environ: Mapping[str, str]) -> tuple[Any, tuple[Use, ...]]:
    """Return the value with every `${NAME}` in its texts replaced, and what was put where.

    `$${NAME}` stays as `${NAME}`. Raises ConfigError that names the variable and, after `where`,
    the field.
    """
    uses: list[Use] = []
    return _walk(value, "", lambda text, field: _filled(text, field, where, environ, uses)), (
        *uses,
    )


def _walk(value: Any, field: str, fill: Callable[[str, str], str]) -> Any:
    if isinstance(value, str):
        return fill(value, field)
    if isinstance(value, dict):
        return {key: _walk(inner, _below(field, key), fill) for key, inner in value.items()}
    if isinstance(value, list):
        return [_walk(inner, _below(field, place), fill) for place, inner in enumerate(value)]
    return value


def _filled(text: str, field: str, where: str, environ: Mapping[str, str], uses: list[Use]) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1]:
            return found[0][1:]
        if found[2] not in environ:
            raise ConfigError(f"{where}, field {field!r}: the variable {found[2]!r} is not set")
        uses.append(Use(field, environ[found[2]]))
        return environ[found[2]]

    return _VARIABLE.sub(value, text)


def _below(field: str, key: object) -> str:
    return f"{field}.{key}" if field else str(key)
