"""The folder that one running Tocsin owns: its data, its tokens, and where it can be reached."""

import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from tocsin_contracts import Value
from tocsin_kit.errors import PermanentError
from tocsin_kit.publishes import Identity

DEFAULT = Path(".tocsin")

V = TypeVar("V", bound=Value)


class Passwords(Value):
    """With what each identity logs in at bus and store."""

    of: dict[Identity, str] = Field(repr=False)


class Tokens(Value):
    """Who may send alerts, and who may look and decide."""

    ingest_token: str = Field(repr=False)
    api_token: str = Field(repr=False)


class Up(Value):
    """Where the parts of a running Tocsin are."""

    gateway_url: str
    ingest_url: str
    nats_url: str
    redis_url: str
    pids: Mapping[str, int]


class Workspace:
    """Files in one folder. Only one Tocsin runs in it at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self._lock = self.folder / "lock"
        self.tokens_file = self.folder / "tokens.json"
        self.passwords_file = self.folder / "passwords.json"
        self._up = self.folder / "up.json"

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Own the folder for a while; PermanentError if another process owns it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PermanentError(
                f"{str(self.folder)!r} cannot be Tocsin's folder: {error.strerror}; give another"
            ) from error
        with self._lock.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise PermanentError(
                    f"Tocsin already runs in {str(self.folder)!r}; "
                    "stop that one, or give another folder with --data"
                ) from None
            try:
                yield
            finally:
                self._up.unlink(missing_ok=True)

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """Own the folder with nothing in it; a folder that was never ours is not emptied."""
        if not self._lock.exists() and self.folder.exists() and any(self.folder.iterdir()):
            raise PermanentError(
                f"{str(self.folder)!r} holds something that is not Tocsin's; give a new folder"
            )
        with self.claimed():
            for path in self.folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                elif path != self._lock:
                    path.unlink()
            yield

    def tokens(self) -> Tokens:
        """Return the tokens; they are made on first use and only the owner may read them."""
        if not self.tokens_file.exists():
            made = {name: secrets.token_urlsafe(32) for name in Tokens.model_fields}
            self._write(self.tokens_file, json.dumps(made))
        return self._read(self.tokens_file, Tokens)

    def passwords(self) -> dict[Identity, str]:
        """Return the password of each identity at bus and store, made and kept like the tokens."""
        if not self.passwords_file.exists():
            made = {who.value: secrets.token_urlsafe(32) for who in Identity}
            self._write(self.passwords_file, json.dumps({"of": made}))
        return self._read(self.passwords_file, Passwords).of

    def announce(self, up: Up) -> None:
        """Say where everything is, for commands in other terminals."""
        self._write(self._up, up.model_dump_json(indent=2))

    def up(self) -> Up | None:
        """Return where everything is; None if nothing runs here."""
        return self._read(self._up, Up) if self._up.exists() else None

    def _write(self, path: Path, text: str) -> None:
        if not self.folder.is_dir():
            raise PermanentError(f"there is no folder {str(self.folder)!r}; say which with --data")
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
        draft.replace(path)

    def _read(self, path: Path, kind: type[V]) -> V:
        try:
            return kind.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise PermanentError(f"cannot read {str(path)!r}: {error}; delete it") from error
