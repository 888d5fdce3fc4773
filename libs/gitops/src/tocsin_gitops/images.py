"""Take image references apart and put them together: registry/name:tag@digest."""

import re
from dataclasses import dataclass

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Image:
    """An image reference; the name holds registry and repository, tag and digest may be empty."""

    name: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        """Write it the way a manifest does."""
        return self.name + (f":{self.tag}" if self.tag else "") + self._pin

    @property
    def _pin(self) -> str:
        return f"@{self.digest}" if self.digest else ""

    @property
    def sound(self) -> bool:
        """Whether it says exactly which image is meant, in characters that registries allow."""
        good_tag = not self.tag or _TAG.fullmatch(self.tag) is not None
        good_digest = not self.digest or _DIGEST.fullmatch(self.digest) is not None
        return bool(self.name and (self.tag or self.digest)) and good_tag and good_digest


def parse(text: str) -> Image:
    """Split a reference; a colon before the last slash belongs to the registry's port."""
    rest, _, digest = text.partition("@")
    folder, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    return Image(folder + slash + name, tag, digest)
