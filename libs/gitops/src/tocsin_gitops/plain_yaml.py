"""Read a YAML file that an operator wrote as plain values, with one kind of error."""

from typing import Any

import yaml


def load(text: str) -> Any:
    """Return what a document holds; ValueError, in one line, where it is none."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
