"""The servers as deployments start them: users and passwords from the files in deploy."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import redis
from redis.exceptions import NoPermissionError

from tocsin_kit import keys, users
from tocsin_kit.embedded import NatsServer, ValkeyServer
from tocsin_kit.ensure import connected, ensure
from tocsin_kit.processes import LOOPBACK
from tocsin_kit.publishes import SERVICES, Identity

pytestmark = pytest.mark.servers

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """The folder that passwords.sh fills."""
    folder = tmp_path_factory.mktemp("secrets")
    script = shutil.copy(DEPLOY / "secrets" / "passwords.sh", folder)
    subprocess.run(["sh", script], check=True)
    return folder


def environment(secrets):
    lines = (secrets / "passwords.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def in_environment(secrets, command, **more):
    given = environment(secrets) | more
    return ["env", *(f"{name}={value}" for name, value in given.items()), *command]


class DeployedNats(NatsServer):
    secrets: Path

    def command(self):
        *line, config = super().command()
        shutil.copy(DEPLOY / "nats" / "users.conf", self.data)
        told = (DEPLOY / "nats" / "nats.conf").read_text(encoding="utf-8")
        _, begins, users_of = told.partition("authorization {")
        with Path(config).open("a", encoding="utf-8") as file:
            file.write(begins + users_of)
        return in_environment(self.secrets, [*line, config])


class DeployedValkey(ValkeyServer):
    secrets: Path

    def command(self):
        binary, *options = super().command()
        path = f"{Path(binary).parent}:{os.environ['PATH']}"
        start = ["sh", str(DEPLOY / "valkey" / "start.sh"), *options]
        return in_environment(
            self.secrets, start, PATH=path, TMPDIR=str(self.data), TOCSIN_REDIS_PREFIX="north"
        )


def test_passwords_are_made_once_and_each_service_gets_its_own(secrets):
    again = subprocess.run(
        ["sh", secrets / "passwords.sh"], check=False, capture_output=True, text=True
    )
    assert again.returncode == 1
    assert "remove it for new passwords" in again.stderr
    given = environment(secrets)
    assert set(given) == {users.variable(who) for who in Identity}
    assert len(set(given.values())) == len(Identity)
    for who in (*SERVICES, Identity.OWNER):
        password = given[users.variable(who)]
        addresses = [path.read_text(encoding="utf-8") for path in sorted((secrets / who).iterdir())]
        assert addresses == [
            f"nats://{who}:{password}@nats:4222\n",
            f"redis://{who}:{password}@valkey:6379/0\n",
        ]
    kept = [path for path in secrets.rglob("*") if path.is_file() and path.suffix != ".sh"]
    assert {oct(path.stat().st_mode & 0o777) for path in kept} == {"0o600"}


async def test_the_bus_knows_its_users_by_the_environment(secrets, tmp_path):
    server = DeployedNats(tmp_path / "nats")
    server.secrets, given = secrets, environment(secrets)
    with server:
        at = f"{LOOPBACK}:{server.ports[0]}"
        await ensure(f"nats://owner:{given['TOCSIN_PASSWORD_OWNER']}@{at}", ack_wait=10)
        for who in users.OF_THE_BUS:
            async with connected(f"nats://{who}:{given[users.variable(who)]}@{at}") as client:
                assert client.is_connected


def test_the_store_knows_its_users_by_the_environment_and_their_keys_by_the_prefix(
    secrets, tmp_path
):
    server = DeployedValkey(tmp_path / "valkey")
    server.secrets, given = secrets, environment(secrets)
    with server:
        url = f"redis://rca:{given['TOCSIN_PASSWORD_RCA']}@{LOOPBACK}:{server.ports[0]}"
        with redis.Redis.from_url(url) as client:
            assert client.hset("north:run:{r1}", "state", "received") == 1
            with pytest.raises(NoPermissionError):
                client.hset(keys.run("r1"), "state", "received")


def test_the_store_does_not_start_without_a_password(secrets):
    given = environment(secrets) | {"PATH": os.environ["PATH"], "TMPDIR": str(secrets)}
    del given["TOCSIN_PASSWORD_ACTION"]
    command = ["sh", str(DEPLOY / "valkey" / "start.sh")]
    done = subprocess.run(command, env=given, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "TOCSIN_PASSWORD_ACTION" in done.stderr
