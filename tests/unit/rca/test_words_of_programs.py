"""What programs say when they end, and what that says; the look-alikes say something else."""

import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.arguments import Arguments
from tocsin_rca.analyzers.certificate import Certificate
from tocsin_rca.analyzers.command import Command
from tocsin_rca.analyzers.credentials import Credentials
from tocsin_rca.analyzers.image_architecture import ImageArchitecture
from tocsin_rca.analyzers.port_conflict import PortConflict
from tocsin_rca.analyzers.required_env import RequiredEnv
from tocsin_rca.analyzers.volume_rights import VolumeRights

ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}
LOOPING = {"waiting": {"reason": "CrashLoopBackOff"}}
STATUS = {"ready": False, "restartCount": 4, "state": LOOPING, "lastState": ENDED}


async def told(scene, analyzer, text):
    scene.deployment()
    scene.pod(**STATUS)
    scene.log(text)
    return analyzer.analyze(await scene.case())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CATALOG_ADDR", 'panic: environment variable "CATALOG_ADDR" not set\n\ngoroutine 1:'),
        ("DATABASE_URL", "    raise KeyError(key) from None\nKeyError: 'DATABASE_URL'"),
        ("POSTGRES_PASSWORD", "You must specify POSTGRES_PASSWORD to a non-empty value for the"),
        (
            "MYSQL_ROOT_PASSWORD",
            "You need to specify one of the following as an environment variable:\n"
            "    - MYSQL_ROOT_PASSWORD\n    - MYSQL_ALLOW_EMPTY_PASSWORD",
        ),
        ("DB_HOST", "Could not resolve placeholder 'DB_HOST' in value \"jdbc:${DB_HOST}\""),
        ("JWT_SECRET", "Error: Missing required environment variable: JWT_SECRET\n at config.js"),
        ("REDIS_ADDR", "required key REDIS_ADDR missing value"),
        ("API_KEY", "/entrypoint.sh: line 5: API_KEY: unbound variable"),
        ("STRIPE_KEY", "FATAL: Required environment variable STRIPE_KEY is missing. Exiting."),
        ("STRIPE_KEY", "Error: STRIPE_KEY environment variable is required"),
        ("DATABASE_URL", "ERROR config: DATABASE_URL must be set"),
        ("BROKERS", "1 validation error for Settings\nBROKERS\n  Field required [type=missing]"),
        ("SECRET_KEY", "ImproperlyConfigured: Set the SECRET_KEY environment variable"),
        ("SMTP_HOST", "[error] Environment variable 'SMTP_HOST' is not defined"),
        ("JAEGER_HOST", 'level=fatal msg="env var JAEGER_HOST not found"'),
    ],
)
async def test_a_variable_that_a_program_asks_for_is_named(scene, name, text):
    (finding,) = await told(scene, RequiredEnv(), text)
    assert finding.cause is CauseClass.MISSING_ENV
    assert f"variable {name}:" in finding.summary
    assert finding.change is None


async def test_a_variable_that_was_misspelt_gets_its_right_name(scene):
    scene.container |= {"env": [{"name": "DATABSE_URL", "value": "postgres://db/web"}]}
    (finding,) = await told(scene, RequiredEnv(), "ERROR: DATABASE_URL must be set")
    assert (finding.change.old, finding.change.new) == ("DATABSE_URL", "DATABASE_URL")


@pytest.mark.parametrize(
    "text",
    [
        "INFO environment variable LOG_LEVEL is not set, using info",
        "KeyError: 'user_id'",
        "ERROR: column ORDER_ID of relation orders does not exist",
        "HTTP_404: page was not found",
    ],
)
async def test_what_only_looks_like_a_missing_variable_is_none(scene, text):
    assert await told(scene, RequiredEnv(), text) == ()


async def test_a_variable_that_is_set_is_not_missing(scene):
    scene.container |= {"env": [{"name": "DATABASE_URL", "value": "postgres://db/web"}]}
    assert await told(scene, RequiredEnv(), "ERROR: DATABASE_URL must be set") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Error: unknown flag: --workers-count\nUsage:\n  server [flags]",
        "flag provided but not defined: -loglevel\nUsage of /app:",
        "app.py: error: unrecognized arguments: --prot 8080",
        "error: unexpected argument '--foo' found\n\nUsage: server [OPTIONS]",
        "Unrecognized VM option 'UseConcMarkSweepGC'\nError: Could not create the Java Virtual M",
        '/bin/sh: 1: Syntax error: "fi" unexpected',
        '/bin/sh: syntax error: unexpected "fi"',
        "bash: -c: line 1: syntax error near unexpected token `done'",
        "node: bad option: --max-heap=300",
        "[ERROR] [MY-000067] [Server] unknown variable 'max_connection=500'.",
        "Error: No such option: --wokers",
        'Error: required flag(s) "config" not set',
    ],
)
async def test_arguments_that_a_program_refuses_are_told(scene, text):
    (finding,) = await told(scene, Arguments(), text)
    assert finding.cause is CauseClass.CONTAINER_ARGS_INVALID
    assert finding.confidence >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        'ERROR:  syntax error at or near "FORM" at character 15',
        "ERR unknown command 'FOO', with args beginning with:",
        "gzip: unexpected end of file",
    ],
)
async def test_what_a_database_refuses_is_no_argument(scene, text):
    assert await told(scene, Arguments(), text) == ()


async def test_arguments_that_a_commit_changed_go_back(scene):
    path = ("spec", "template", "spec", "containers", "[name=app]", "args", 0)
    scene.commit(path, "--port=80", "--prot=80")
    (finding,) = await told(scene, Arguments(), "unknown flag: --prot")
    assert (finding.change.old, finding.change.new) == ("--prot=80", "--port=80")
    assert finding.change.path == path


@pytest.mark.parametrize(
    "text",
    [
        'failed: FATAL:  password authentication failed for user "app"',
        "Error 1045 (28000): Access denied for user 'app'@'10.1.1.1' (using password: YES)",
        "MongoServerError: Authentication failed.",
        "redis.exceptions.AuthenticationError: NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "SaslAuthenticationException: Authentication failed: Invalid username or password",
        "(403) ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN",
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x/v1",
        "An error occurred (InvalidAccessKeyId) when calling the ListBuckets operation",
        "Error: Invalid API key provided",
        "(AuthenticationFailed) SCRAM authentication failed, storedKey mismatch",
        "MongoServerError: not authorized on geo to execute command { find: 'geo' }",
        'FATAL: role "appuser" does not exist',
    ],
)
async def test_refused_credentials_are_told_and_never_made_up(scene, text):
    (finding,) = await told(scene, Credentials(), text)
    assert finding.cause is CauseClass.CREDENTIALS_INVALID
    assert finding.change is None


@pytest.mark.parametrize(
    "text",
    ['INFO "GET /orders/401 HTTP/1.1" 200', "took 401 ms", "connection refused", "403 rows"],
)
async def test_a_number_is_no_refusal(scene, text):
    assert await told(scene, Credentials(), text) == ()


EXPIRED, MISMATCH = CauseClass.CERTIFICATE_EXPIRED, CauseClass.CERTIFICATE_MISMATCH


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (EXPIRED, "x509: certificate has expired or is not yet valid: current time 2024-05-01 is"),
        (EXPIRED, "certificate verify failed: certificate has expired (_ssl.c:1129)"),
        (EXPIRED, "Error: certificate has expired at TLSSocket code: 'CERT_HAS_EXPIRED'"),
        (EXPIRED, "remote error: tls: expired certificate"),
        (EXPIRED, "java.security.cert.CertificateExpiredException: NotAfter: Mon Jan 01 2024"),
        (MISMATCH, "x509: certificate is valid for foo.example.com, not bar.example.com"),
        (MISMATCH, "x509: certificate signed by unknown authority"),
        (MISMATCH, "certificate verify failed: self signed certificate in certificate chain"),
        (MISMATCH, "PKIX path building failed: unable to find valid certification path"),
        (MISMATCH, 'SSL_CTX_use_PrivateKey("/tls.key") failed (SSL: key values mismatch)'),
        (MISMATCH, "Hostname/IP does not match certificate's altnames: Host: db."),
    ],
)
async def test_a_certificate_is_over_or_for_another(scene, cause, text):
    (finding,) = await told(scene, Certificate(), text)
    assert finding.cause is cause
    assert finding.change is None


async def test_a_registry_with_a_foreign_certificate_is_a_matter_of_the_pull(scene):
    scene.deployment()
    scene.pod(**STATUS)
    image = scene.container["image"]
    scene.event("Failed", f'Failed to pull image "{image}": x509: certificate has expired')
    assert Certificate().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Error: listen EADDRINUSE: address already in use :::8080",
        "panic: listen tcp :8080: bind: address already in use",
        "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
        "Web server failed to start. Port 8080 was already in use.",
        "OSError: [Errno 98] Address already in use",
    ],
)
async def test_a_port_that_is_taken_is_told(scene, text):
    (finding,) = await told(scene, PortConflict(), text)
    assert finding.cause is CauseClass.PORT_CONFLICT


@pytest.mark.parametrize(
    "text",
    [
        "/bin/sh: 1: gunicorn: not found",
        "/entrypoint.sh: line 3: wait-for-it: command not found",
        "python: can't open file '/app/mian.py': [Errno 2] No such file or directory",
        "Error: Cannot find module '/app/sever.js'\n    at Module._resolveFilename",
        "Error: Unable to access jarfile /app/app.jar",
        "Error: Could not find or load main class com.example.Mian",
        "exec /docker-entrypoint.sh: no such file or directory",
    ],
)
async def test_a_program_that_is_not_there_is_told_by_a_shell(scene, text):
    (finding,) = await told(scene, Command(), text)
    assert finding.cause is CauseClass.COMMAND_NOT_FOUND


@pytest.mark.parametrize(
    "text",
    ["GET /item 404: not found", "user 7 not found", "Error: key orders: not found in cache"],
)
async def test_what_a_program_does_not_find_is_no_program(scene, text):
    assert await told(scene, Command(), text) == ()


async def test_a_program_that_only_the_probe_runs_is_not_the_programs_fault(scene):
    scene.deployment()
    scene.pod(**STATUS)
    said = 'OCI runtime exec failed: exec: "curl": executable file not found in $PATH: unknown'
    scene.event("Unhealthy", f"Readiness probe errored: rpc error: code = Unknown desc = {said}")
    assert Command().analyze(await scene.case()) == ()


async def test_a_shell_that_found_nothing_leaves_its_code(scene):
    scene.deployment()
    ended = {"terminated": {"exitCode": 127, "reason": "Error"}}
    scene.pod(**STATUS | {"lastState": ended})
    (finding,) = Command().analyze(await scene.case())
    assert finding.confidence < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "PermissionError: [Errno 13] Permission denied: '/data/out.log'",
        "OSError: [Errno 30] Read-only file system: '/tmp/app.sock'",
        "Error: EACCES: permission denied, mkdir '/var/lib/app'",
        "mkdir: cannot create directory '/bitnami/data': Permission denied",
        'nginx: [emerg] mkdir() "/var/cache/nginx/client_temp" failed (13: Permission denied)',
        'nginx: [emerg] open() "/var/run/nginx.pid" failed (30: Read-only file system)',
        "GF_PATHS_DATA='/var/lib/grafana' is not writable.",
        "panic: open /data/db.sqlite: permission denied",
        'initdb: error: could not change permissions of directory "/pg": Operation not permitted',
    ],
)
async def test_a_program_that_may_not_write_is_told(scene, text):
    (finding,) = await told(scene, VolumeRights(), text)
    assert finding.cause is CauseClass.VOLUME_PERMISSION_DENIED


@pytest.mark.parametrize(
    "text",
    [
        "nginx: [emerg] bind() to 0.0.0.0:80 failed (13: Permission denied)",
        "ERROR:  permission denied for table orders",
        "Permission denied (publickey).",
    ],
)
async def test_rights_to_other_things_than_files_are_another_story(scene, text):
    assert await told(scene, VolumeRights(), text) == ()


async def test_a_root_that_a_commit_made_read_only_goes_back(scene):
    path = (*("spec", "template", "spec", "containers", "[name=app]"), "securityContext")
    scene.commit((*path, "readOnlyRootFilesystem"), False, True)
    (finding,) = await told(scene, VolumeRights(), "Read-only file system: '/tmp/x'")
    assert (finding.change.old, finding.change.new) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "exec /usr/local/bin/app: exec format error",
        "standard_init_linux.go:228: exec user process caused: exec format error",
    ],
)
async def test_a_program_for_another_processor_is_told(scene, text):
    (finding,) = await told(scene, ImageArchitecture(), text)
    assert finding.cause is CauseClass.IMAGE_ARCHITECTURE_MISMATCH
