"""Keep secrets from whoever reads: exact values that settings hold, and shapes of secrets."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "[redacted]"

_SHORTEST = 6
"""Characters of a known secret: shorter values would mask ordinary words."""

_SHORTEST_ENCODED = 8

_SHAPES = re.compile(
    r"(?i)(?:bearer|basic)\s+[a-z0-9._~+/=-]{8,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bglsa_[A-Za-z0-9_]{20,}"
    r"|\b(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}"
    r"|(?<=hooks\.slack\.com/)[a-z]+/[A-Za-z0-9/_-]{16,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bsk-(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{16,}"
    r"|\bsk-[A-Za-z0-9]{10,}T3BlbkFJ[A-Za-z0-9]{10,}"
    r"|\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|\bnpm_[A-Za-z0-9]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)

_SAYS = r"""\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?"""
_VALUE = r"""[^\s"'`,;&<>(){}\[\]\\]"""
_CALLED = re.compile(
    r"(?i)((?:(?<!/)passw(?:or)?d|passphrase|(?<![a-z])pwd|client[_-]?secret"
    r"|(?:api|access|secret|private|account)[_-]?key|(?:auth|access|refresh)[_-]?token)"
    rf"{_SAYS}|--(?:password|secret|token|api-?key)\s"
    rf"|(?:secret|token){_SAYS}(?={_VALUE}{{0,40}}\d)){_VALUE}{{6,}}"
)
"""What the text itself calls a secret; a mere `secret` or `token` may be a name without a digit."""

_SIGNS = (
    *("bearer", "basic", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glsa_"),
    *("xox", "xapp-", "slack.com", "akia", "asia", "aiza", "npm_", "eyj", "private key", "@"),
    *("sk-", "k_live_", "k_test_", "pass", "pwd", "secret", "token", "key"),
)
"""Every shape holds one of these, and they are found ten times as fast."""

_NAMES = re.compile(r"(?i)(password|passwd|secret|token|api_?key|authorization|credential)")


class _Known:
    """Secrets in every form that is written anywhere, the longest first.

    Beside the plain one that is a string of JSON, a part of an address, HTML, and base64: also
    within a longer text, where three of its letters depend on what stands around.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets: frozenset[str] = frozenset()
        self.forms: tuple[str, ...] = ()
        self.of_words: tuple[str, ...] = ()
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Know these, and no others any more."""
        self.secrets = frozenset(one for one in secrets if len(one) >= _SHORTEST)
        forms = {form for one in self.secrets for form in _forms(one)}
        self.forms = tuple(sorted(forms, key=len, reverse=True))
        self.of_words = tuple(form for form in self.forms if len(form.split()) > 1)


_process = _Known()


def know(secrets: Iterable[str]) -> None:
    """Have every redactor of this process mask these too, also those that were made before."""
    _process.learn(secrets)


class Redactor:
    """Masks secrets in text and in nested values: its own, and those that the process knows."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._own = frozenset(secrets)
        self._both = _Known(self._own)

    def text(self, value: str) -> str:
        """Return the text with every known or recognisable secret masked."""
        for secret in self._known.forms:
            value = value.replace(secret, MASK)
        if not _has_a_sign(value):
            return value
        return _CALLED.sub(rf"\1{MASK}", _SHAPES.sub(MASK, value))

    def called(self, name: str, value: str) -> str:
        """Return a value masked as `text` would mask it behind its name and a colon."""
        head = f"{name}: "
        said = self.text(f"{head}{value}")
        return said.removeprefix(head) if said.startswith(head) else MASK

    def settled(self, text: str) -> str:
        """Return how far a text that goes on may be shown: what follows makes no secret of it.

        It is for `text` of all that came until now: a word that is not whole is not in it.
        """
        whole = not text or text[-1].isspace()
        end = len(text) if whole else len(text) - len(text.rsplit(None, 1)[-1])
        for secret in self._known.of_words:
            begun = range(min(len(secret), len(text)), 0, -1)
            size = next((size for size in begun if text.endswith(secret[:size])), 0)
            end = min(end, len(text) - size)
        return text[:end]

    def may_hide(self, value: str) -> bool:
        """Return whether `text` could change a value at all; cheaper than to call it."""
        return _has_a_sign(value) or any(secret in value for secret in self._known.forms)

    @property
    def _known(self) -> _Known:
        if not _process.secrets <= self._both.secrets:
            self._both = _Known(self._own | _process.secrets)
        return self._both

    def value(self, value: Any, name: str = "") -> Any:
        """Return the value masked, by what it holds and by what its field is called."""
        if isinstance(value, str):
            return MASK if value and _NAMES.search(name) else self.text(value)
        if isinstance(value, dict):
            return {key: self.value(inner, str(key)) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(inner, name) for inner in value)
        return value


def _has_a_sign(value: str) -> bool:
    return any(map(value.casefold().__contains__, _SIGNS))


def _forms(secret: str) -> Iterator[str]:
    within = json.dumps(secret)[1:-1]
    encoded = secret.encode(errors="surrogatepass")
    yield from (secret, within, json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (json.dumps(within)[1:-1], repr(secret)[1:-1], html.escape(secret))
    yield from (quote(encoded), quote(encoded, safe=""), quote_plus(encoded))
    yield from _encoded(encoded)


def _encoded(secret: bytes) -> Iterator[str]:
    """Yield what of base64 is the same whatever stands around, for each way it can be cut."""
    for before in range(3):
        padded = b"\0" * before + secret
        whole = len(padded) // 3 * 4
        first = 4 if before else 0
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            stable = encode(padded)[first:whole].decode()
            if len(stable) >= _SHORTEST_ENCODED:
                yield stable
