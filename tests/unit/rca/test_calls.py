import pytest

from tocsin_rca.evidence.calls import How, failed_calls, failure

SAID = [
    ("dial tcp: lookup redis-cart on 10.96.0.10:53: no such host", How.NO_NAME, "redis-cart", None),
    (
        'desc = "Error while dialing: dial tcp 10.0.3.4:7070: connect: connection refused"',
        How.REFUSED,
        "10.0.3.4",
        7070,
    ),
    (
        "lookup cart.shop on 10.96.0.10:53: read udp 10.2.0.9:4123->10.96.0.10:53: i/o timeout",
        How.DNS_SILENT,
        "cart.shop",
        None,
    ),
    (
        'connection to server at "postgres" (10.1.2.3), port 5432 failed: Connection refused',
        How.REFUSED,
        "postgres",
        5432,
    ),
    (
        "(2003, \"Can't connect to MySQL server on 'mysql' ([Errno 111] Connection refused)\")",
        How.REFUSED,
        "mysql",
        None,
    ),
    (
        "redis.exceptions.ConnectionError: Error 111 connecting to redis:6379. Connection refused.",
        How.REFUSED,
        "redis",
        6379,
    ),
    ("Error: getaddrinfo ENOTFOUND mongo-db", How.NO_NAME, "mongo-db", None),
    ("Error: getaddrinfo EAI_AGAIN mongo-db", How.DNS_SILENT, "mongo-db", None),
    ("java.net.UnknownHostException: kafka: Name or service not known", How.NO_NAME, "kafka", None),
    ("PSQLException: Connection to postgres:5432 refused. Check", How.REFUSED, "postgres", 5432),
    ("curl: (6) Could not resolve host: api.shop.svc", How.NO_NAME, "api.shop.svc", None),
    (
        "curl: (28) Failed to connect to backend port 80 after 5001 ms: Connection timed out",
        How.TIMED_OUT,
        "backend",
        80,
    ),
    ("wget: bad address 'backend:80'", How.NO_NAME, "backend", 80),
    ("can't connect to remote host (10.9.4.7): Connection refused", How.REFUSED, "10.9.4.7", None),
    ('[emerg] host not found in upstream "api" in /etc/nginx/x.conf:3', How.NO_NAME, "api", None),
    ("UnableToConnect on redis-cart:6379/Interactive", How.UNAVAILABLE, "redis-cart", 6379),
    ("mongo:27017: [Errno 111] Connection refused, Timeout: 30s", How.REFUSED, "mongo", 27017),
    (
        "could not connect to db.example:3306: timed out after 10s",
        How.TIMED_OUT,
        "db.example",
        3306,
    ),
    ("** server can't find cart.shop.svc: NXDOMAIN", How.NO_NAME, "cart.shop.svc", None),
    ("upstream connect error or disconnect/reset before headers", How.UNAVAILABLE, None, None),
    ("Error: read ECONNRESET", How.RESET, None, None),
    ("connect: no route to host", How.UNREACHABLE, None, None),
]


@pytest.mark.parametrize(("line", "how", "host", "port"), SAID)
async def test_a_failed_call_says_how_and_whom(scene, line, how, host, port):
    scene.deployment()
    scene.pod(ready=True, restartCount=1, state={"running": {}})
    scene.log(f"INFO started\n{line}\n")
    (call,) = failed_calls(await scene.case())
    assert call.how is how
    assert (call.place and (call.place.host, call.place.port)) == ((host, port) if host else None)


@pytest.mark.parametrize(
    "line",
    [
        "INFO listening on 0.0.0.0:8080",
        "2026-03-02T10:10:10Z GET /cart 200 12ms",
        "INFO connected to postgres:5432",
        "DEBUG idle timeout is 30s",
        "",
    ],
)
def test_ordinary_lines_are_no_failed_calls(line):
    assert failure(line) is None


def test_a_hostile_line_is_judged_in_no_time():
    assert failure("lookup " * 20000) is None
