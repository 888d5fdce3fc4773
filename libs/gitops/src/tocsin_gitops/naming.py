"""Tell from a file's bytes alone whether it may write an object of a name, before it is parsed."""

import re

_NAME = re.compile(rb"""(?<![\w.-])["']?name["']?\s*:[ \t]*([^\r\n]*)""")
_PLAIN = re.compile(r"""["']?([\w.-]+)["']?\s*(?:[,}#].*)?$""")


def may_be_in(data: bytes, name: str, *, renamed: bool) -> bool:
    """Return whether a file may write an object that is deployed by that name; in doubt it may.

    A name that is `renamed` on its way gains a prefix or a suffix there.
    """
    if name.encode() in data:
        return True
    return renamed and any(_may_become(text, name) for text in _NAME.findall(data))


def _may_become(written: bytes, name: str) -> bool:
    plain = _PLAIN.match(written.decode(errors="replace").strip())
    return plain is None or plain[1] in name
