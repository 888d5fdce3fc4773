"""Shell scripts that end with a word which closes nothing."""

import re

_OPENS = {"fi": "if", "done": "do", "esac": "case"}
_LAST = re.compile(r"\s{0,8};\s{0,8}(?P<word>fi|done|esac)\s{0,8};?\s{0,8}\Z")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|#[^\n]*")


def closed(script: str) -> tuple[str, str] | None:
    """Return the script without its last word and that word, if it closes what nothing opened.

    None for any other script: what is wrong with that nobody can tell from its words.
    """
    last = _LAST.search(script)
    words = re.findall(r"[\w-]+", _QUOTED.sub(" ", script))
    if last is None:
        return None
    word = last["word"]
    more = words.count(word) - words.count(_OPENS[word])
    rest = script[: last.start()].rstrip()
    return (rest, word) if more == 1 and rest else None
