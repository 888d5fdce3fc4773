"""What an operator writes about MCP servers is taken as meant, or refused by name."""

import pytest

from tocsin_contracts.capability import Capability
from tocsin_mcp.config import load
from tocsin_mcp.errors import ConfigError

KUBERNETES = """
servers:
  kubernetes:
    transport: stdio
    command: kubernetes-mcp-server
    args: [--config, "${CONFIG}/kubernetes.toml"]
    env: [KUBECONFIG]
    allow: ["pods_*"]
    capabilities: {"pods_*": read}
"""
ENVIRON = {"CONFIG": "/etc/tocsin", "KUBECONFIG": "/etc/kube", "TOKEN": "sesame-open-7"}


@pytest.fixture
def read(tmp_path):
    def read(text, environ=ENVIRON):
        file = tmp_path / "servers.yaml"
        file.write_text(text)
        return load(file, environ)

    return read


def one(fields):
    return "servers:\n  web:\n" + "".join(f"    {field}\n" for field in fields.splitlines())


def test_a_server_is_read_with_its_variables_filled_in(read):
    (server,) = read(KUBERNETES)
    assert server.name == "kubernetes"
    assert server.entry.args == ("--config", "/etc/tocsin/kubernetes.toml")
    assert server.entry.env["KUBECONFIG"].get_secret_value() == "/etc/kube"
    assert server.entry.capabilities == {"pods_*": Capability.READ}


def test_an_unset_variable_is_named_with_its_server_and_field(read):
    with pytest.raises(ConfigError, match=r"server 'kubernetes', field 'args\.1': .*'CONFIG'"):
        read(KUBERNETES, {"KUBECONFIG": "x"})
    with pytest.raises(ConfigError, match=r"field 'env\.KUBECONFIG': .*'KUBECONFIG' is not set"):
        read(KUBERNETES, {"CONFIG": "x"})


def test_a_disabled_server_needs_no_variable(read):
    (server,) = read(KUBERNETES + "    disabled: true\n", {})
    assert server.entry.disabled


def test_a_doubled_dollar_is_a_dollar(read):
    (server,) = read(one('transport: stdio\ncommand: web\nargs: ["$${HOME}", "$5"]'))
    assert server.entry.args == ("${HOME}", "$5")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ("transport: stdio\ncomand: web", "comand"),
        ("transport: carrier_pigeon\nurl: http://web", "transport"),
        ("transport: stdio", "needs 'command'"),
        ("transport: sse", "needs 'url'"),
        ("transport: sse\nurl: http://web\nenv: [TOKEN]", "takes no 'env'"),
        ("transport: stdio\ncommand: web\nheaders: {a: b}", "takes no 'headers'"),
        ("transport: sse\nurl: file:///etc/passwd", "http"),
        ("transport: sse\nurl: http://ann:secret@web/", "credentials"),
        ("transport: stdio\ncommand: web\ntimeout: 0", "timeout"),
        ("transport: stdio\ncommand: web\ncapabilities: {a: rule}", "capabilities.a"),
        ("transport: sse\nurl: http://web\nheaders_from: {}", "headers_from"),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(read, fields, named):
    with pytest.raises(ConfigError, match=named) as refused:
        read(one(fields))
    assert "server 'web'" in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "servers: 3", "other: {}", "servers: {a b: {}}", "a: ["]
)
def test_a_file_of_another_shape_is_refused(read, text):
    with pytest.raises(ConfigError):
        read(text)


def test_no_secret_is_shown(read):
    (server,) = read(
        one(
            "transport: streamable_http\n"
            "url: https://web.example:8443/${TOKEN}/mcp\n"
            "headers: {Authorization: 'Bearer literal-word'}"
        )
    )
    assert "sesame" not in server.redactor.text("GET /sesame-open-7/mcp with Bearer literal-word")
    assert "literal" not in server.redactor.text("the token literal-word")
    assert "literal" not in repr(server)
    assert server.place == "https://web.example:8443"


def test_a_place_is_shown(read):
    (server,) = read(KUBERNETES)
    assert server.redactor.text("cannot read /etc/kube") == "cannot read /etc/kube"
