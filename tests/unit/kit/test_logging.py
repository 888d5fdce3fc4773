"""P6: no log line of this process, ours or a library's, shows a secret that settings hold."""

import json
import logging as standard
from typing import ClassVar

import pytest
import structlog
from pydantic import BaseModel, Field, SecretStr

from tocsin_kit import logging
from tocsin_kit.errors import PermanentError
from tocsin_kit.settings import LogLevel, ServiceSettings

SECRET = "canary-0123456789"


NESTED = "canary-9876543210"


class Sender(BaseModel):
    secrets: tuple[SecretStr, ...] = ()


class Settings(ServiceSettings):
    service: ClassVar[str] = "gateway"

    tokens: dict[str, SecretStr] = Field(default_factory=dict)
    senders: dict[str, Sender] = Field(default_factory=dict)


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    root = standard.getLogger()
    before, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers) - set(before):
        handler.close()
    root.handlers[:], root.level = before, level
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def lines(capsys):
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def configured():
    """Inside the test, so that the handlers of the test's own log capture are replaced too."""
    sender = Sender(secrets=(SecretStr(NESTED),))
    logging.configure(Settings(tokens={"ana": SecretStr(SECRET)}, senders={"a": sender}))
    return logging.get("x")


def test_a_line_names_its_service_event_and_fields(lines):
    configured().info("gateway.asked", run_id="r1")
    (line,) = lines()
    assert (line["service"], line["event"], line["run_id"]) == ("gateway", "gateway.asked", "r1")
    assert (line["level"], line["timestamp"][-1]) == ("info", "Z")


def test_p6_a_known_secret_is_masked_in_fields_messages_and_tracebacks(lines):
    log = configured()
    log.info(f"got {SECRET}", url=f"https://u:{SECRET}@host/", deep={"a": [SECRET, NESTED]})
    standard.getLogger("library").warning("sent %s", SECRET)
    try:
        int(SECRET)
    except ValueError:
        log.exception("gateway.broke")
    found = lines()
    assert len(found) == 3
    assert SECRET not in json.dumps(found)
    assert NESTED not in json.dumps(found)
    assert "ValueError" in found[2]["exception"]


def test_p6_a_secret_that_no_setting_holds_is_masked_too(lines):
    logging.configure(Settings(), {SECRET})
    logging.get("x").info(f"got {SECRET}")
    assert lines()[0]["event"] == "got [redacted]"


def test_what_runs_are_about_is_bound_to_every_line(lines):
    log = configured()
    with structlog.contextvars.bound_contextvars(run_id="r1"):
        log.info("gateway.asked")
    assert lines()[0]["run_id"] == "r1"


def test_console_and_file_have_levels_of_their_own(lines, tmp_path):
    file = tmp_path / "gateway.log"
    more = {"log_level": LogLevel.WARNING, "log_file": str(file), "log_file_level": LogLevel.DEBUG}
    logging.configure(Settings(**more))
    log = logging.get("x")
    log.debug("gateway.looked")
    log.warning("gateway.waited")
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["event"] for line in written] == ["gateway.looked", "gateway.waited"]
    assert [line["event"] for line in lines()] == ["gateway.waited"]


def test_p6_a_secret_is_masked_in_the_file_too(tmp_path):
    file = tmp_path / "gateway.log"
    logging.configure(Settings(tokens={"ana": SecretStr(SECRET)}, log_file=str(file)))
    logging.get("x").info(f"got {SECRET}")
    assert "[redacted]" in file.read_text()
    assert SECRET not in file.read_text()


def test_a_log_file_that_cannot_be_written_is_named_before_anything_starts(tmp_path):
    with pytest.raises(PermanentError, match=r"TOCSIN_LOG_FILE: cannot write '.*': Is a directory"):
        logging.configure(Settings(log_file=str(tmp_path)))


def test_the_console_is_as_loud_as_is_set_now(lines):
    log = configured()
    logging.set_level(LogLevel.ERROR)
    log.warning("gateway.quiet")
    logging.set_level(LogLevel.DEBUG)
    log.debug("gateway.loud")
    assert [line["event"] for line in lines()] == ["gateway.loud"]


def test_a_websocket_that_is_answered_with_a_no_is_no_error_of_ours(lines):
    configured()
    server = standard.getLogger("uvicorn.error")
    server.error("ASGI callable returned without completing handshake.")
    server.error("Exception in ASGI application")
    assert [line["event"] for line in lines()] == ["Exception in ASGI application"]


class Client:
    """An object whose repr tells its token, as those of some libraries do."""

    def __repr__(self):
        return f"Client(token={SECRET!r})"


@pytest.mark.parametrize(
    "value",
    [Client(), ValueError(f"refused: {SECRET}"), {"a": [Client()]}, SECRET.encode(), {SECRET}],
    ids=["object", "exception", "nested", "bytes", "set"],
)
def test_p6_what_a_renderer_writes_in_its_own_way_is_masked_too(capsys, value):
    configured().warning("gateway.refused", what=value)
    line = capsys.readouterr().err
    assert SECRET not in line
    assert "gateway.refused" in line


def test_p6_the_password_in_an_address_that_settings_hold_is_masked_alone(lines):
    logging.configure(Settings(nats_url="nats://gateway:p4ss%2Fword-1@bus:4222"))
    logging.get("x").info("bus.asked", said="the password p4ss/word-1 is wrong")
    assert "p4ss/word-1" not in lines()[0]["said"]


def test_p6_a_line_that_cannot_be_masked_is_not_shown_at_all(capsys):
    class Unshown:
        def __repr__(self):
            raise ValueError(SECRET)

    configured()
    standard.getLogger("library").warning("it is %r", Unshown())
    assert SECRET not in capsys.readouterr().err
