"""A real Prometheus and a real Alertmanager, with a thing to look at that a test can break."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tocsin_kit.errors import PermanentError
from tocsin_kit.processes import LOOPBACK, ServerProcess

PACKAGES = {
    "prometheus": ("prometheus",),
    "prometheus-alertmanager": ("prometheus-alertmanager", "alertmanager"),
}
"""Debian's packages, and what the programs in them are called here or elsewhere."""

OK = 200
_SECONDS = 2
_Rule = dict[str, str | dict[str, str]]


def missing() -> list[str]:
    """Return the packages whose programs are not on this machine."""
    return [package for package, names in PACKAGES.items() if not any(map(shutil.which, names))]


class _Web(ServerProcess):
    """What both have in common: one port, and the same question whether they are ready."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.address}"

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{LOOPBACK}:{self.ports[0]}"

    def answers(self) -> bool:
        """Ask it."""
        connection = HTTPConnection(LOOPBACK, self.ports[0], timeout=_SECONDS)
        try:
            connection.request("GET", "/-/ready")
            return connection.getresponse().status == OK
        finally:
            connection.close()

    def _program(self) -> str:
        found = [path for name in PACKAGES[self.name] if (path := shutil.which(name))]
        if not found:
            raise PermanentError(f"{self.name} is not on this machine: apt-get install {self.name}")
        return found[0]

    def _write(self, name: str, content: object) -> Path:
        """JSON is YAML, which is what both read."""
        path = self.data / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return path


class Alertmanager(_Web):
    """Sends to one receiver as soon as its own rules of grouping allow."""

    name = "prometheus-alertmanager"

    def __init__(self, data: Path, receiver: Mapping[str, object], group_by: Sequence[str]) -> None:
        super().__init__(data)
        self._receiver = receiver
        self._group_by = list(group_by)

    def command(self) -> list[str]:
        """Write the configuration; clustering is off."""
        route = {
            "receiver": "tocsin",
            "group_by": self._group_by,
            "group_wait": "200ms",
            "group_interval": "1s",
            "repeat_interval": "1h",
        }
        receiver = {"name": "tocsin", **self._receiver}
        config = self._write("alertmanager.yml", {"route": route, "receivers": [receiver]})
        return [
            self._program(),
            f"--config.file={config}",
            f"--storage.path={self.data}",
            f"--web.listen-address={self.address}",
            "--cluster.listen-address=",
        ]

    def take(self, *alerts: Mapping[str, object]) -> None:
        """Tell it of alerts, as Prometheus does; one whose `endsAt` has passed is over."""
        connection = HTTPConnection(LOOPBACK, self.ports[0], timeout=_SECONDS)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/api/v2/alerts", json.dumps(alerts), headers)
            answer = connection.getresponse()
            if answer.status != OK:
                raise PermanentError(f"Alertmanager took no alert: {answer.read().decode()}")
        finally:
            connection.close()


def webhook(url: str, token: str) -> dict[str, object]:
    """Return the receiver that our documentation recommends."""
    authorization = {"authorization": {"credentials": token}}
    return {"webhook_configs": [{"url": url, "send_resolved": True, "http_config": authorization}]}


class Prometheus(_Web):
    """Looks at one target twice a second, and fires one alert for each metric that is not 0."""

    name = "prometheus"

    def __init__(
        self, data: Path, target: str, alertmanager: str, alerts: Mapping[str, str]
    ) -> None:
        super().__init__(data)
        self._target = target
        self._alertmanager = alertmanager
        self._alerts = alerts

    def command(self) -> list[str]:
        """Write the configuration and the rules."""
        rules = [*map(_rule, self._alerts, self._alerts.values()), _rule("Watchdog", "none")]
        rules_file = self._write("rules.yml", {"groups": [{"name": "tests", "rules": rules}]})
        target = {
            "job_name": "target",
            "honor_labels": True,
            "static_configs": [{"targets": [self._target]}],
        }
        config = {
            "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms",
                       "evaluation_interval": "500ms"},
            "rule_files": [str(rules_file)],
            "scrape_configs": [target],
            "alerting": {
                "alertmanagers": [{"static_configs": [{"targets": [self._alertmanager]}]}]
            },
        }  # fmt: skip
        return [
            self._program(),
            f"--config.file={self._write('prometheus.yml', config)}",
            f"--storage.tsdb.path={self.data / 'tsdb'}",
            f"--web.listen-address={self.address}",
            "--rules.alert.resend-delay=1s",
        ]


class MetricStore(_Web):
    """A Prometheus that knows only what was measured before it started, and looks at nothing."""

    name = "prometheus"

    def __init__(self, data: Path, measured: str) -> None:
        super().__init__(data)
        self._measured = measured

    def command(self) -> list[str]:
        """Write what was measured, in OpenMetrics, as blocks of its storage, however old."""
        recorded, storage = self.data / "measured.txt", self.data / "tsdb"
        recorded.write_text(f"{self._measured}# EOF\n", encoding="utf-8")
        made = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
        subprocess.run([*made, str(recorded), str(storage)], check=True, capture_output=True)
        return [
            self._program(),
            f"--config.file={self._write('prometheus.yml', {})}",
            f"--storage.tsdb.path={storage}",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address={self.address}",
        ]


class Target:
    """Something that is scraped; what is broken in it is a metric of the alert's own name."""

    def __init__(self) -> None:
        self._broken: dict[str, list[Mapping[str, str]]] = {}

    def breaks(self, alert: str, *series: Mapping[str, str]) -> None:
        """Let an alert be about these labels, and no longer about others."""
        self._broken[alert] = list(series)

    def metrics(self) -> str:
        """Return what a scrape finds."""
        lines = (
            f"{alert}{{{','.join(f'{name}={json.dumps(text)}' for name, text in one.items())}}} 1"
            for alert, series in self._broken.items()
            for one in series
        )
        return "".join(f"{line}\n" for line in lines)


@contextmanager
def scraped(target: Target) -> Iterator[str]:
    """Serve a target; yield its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = target.metrics().encode()
            self.send_response(OK)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """A scrape is no news."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _rule(alert: str, severity: str) -> _Rule:
    """The Watchdog fires for ever; every other alert while its metric is there."""
    return {
        "alert": alert,
        "expr": "vector(1)" if alert == "Watchdog" else f"{alert} != 0",
        "labels": {"severity": severity},
        "annotations": {"summary": f"{alert} of {{{{ $labels.namespace }}}}"},
    }
