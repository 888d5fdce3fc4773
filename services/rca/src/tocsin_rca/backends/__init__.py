"""Backends that may be asked. To add one: write its file, then name its options here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import httpx
from pydantic import Field, StringConstraints

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_kit.clock import Clock
from tocsin_kit.secret_refs import SecretRef
from tocsin_rca.backends.alertmanager import AlertmanagerOptions
from tocsin_rca.backends.argocd import ArgoCdOptions
from tocsin_rca.backends.client import Client, Place
from tocsin_rca.backends.datadog import DatadogOptions
from tocsin_rca.backends.dynatrace import DynatraceOptions
from tocsin_rca.backends.elasticsearch import ElasticsearchOptions
from tocsin_rca.backends.github_actions import GitHubActionsOptions
from tocsin_rca.backends.gitlab_ci import GitLabCiOptions
from tocsin_rca.backends.grafana import GrafanaOptions
from tocsin_rca.backends.jaeger import JaegerOptions
from tocsin_rca.backends.jenkins import JenkinsOptions
from tocsin_rca.backends.loki import LokiOptions
from tocsin_rca.backends.newrelic import NewRelicOptions
from tocsin_rca.backends.options import BackendOptions
from tocsin_rca.backends.sentry import SentryOptions
from tocsin_rca.backends.splunk import SplunkOptions
from tocsin_rca.backends.tempo import TempoOptions

Backend = Annotated[
    AlertmanagerOptions
    | ArgoCdOptions
    | GitHubActionsOptions
    | GitLabCiOptions
    | JenkinsOptions
    | ElasticsearchOptions
    | GrafanaOptions
    | JaegerOptions
    | LokiOptions
    | SentryOptions
    | DatadogOptions
    | SplunkOptions
    | NewRelicOptions
    | DynatraceOptions
    | TempoOptions,
    Field(discriminator="type"),
]
"""Every kind there is; `type` says which it is."""

BackendName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


@dataclass(frozen=True, slots=True)
class Opened:
    """The tools of backends, named like them, and the secrets that were read for them."""

    toolsets: tuple[OwnTools, ...]
    secrets: frozenset[str]


def opened(backends: Mapping[str, BackendOptions]) -> Opened:
    """Return the tools of all; PermanentError for a secret or a file that is not there."""
    secrets: set[str] = set()
    toolsets = [toolset(name, one, secrets) for name, one in backends.items()]
    return Opened(tuple(toolsets), frozenset(secrets))


def toolset(
    name: str,
    options: BackendOptions,
    secrets: set[str],
    *,
    clock: Clock | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> OwnTools:
    """Return the tools of one backend, which only read; add what it is shown to `secrets`."""

    def read(ref: SecretRef) -> str:
        secret = ref.read(f"backend {name!r}").get_secret_value()
        secrets.add(secret)
        return secret

    credentials = options.credentials(read)
    secrets.update(text.rpartition(" ")[2] for text in credentials.values())
    place = Place(
        name,
        options.base,
        {**options.headers, **credentials},
        frozenset(secrets),
        options.ca_file,
        options.seconds,
    )
    client = Client(place, clock=clock, transport=transport)
    return OwnTools(
        name,
        (
            FunctionTool(function, server=name, capability=Capability.READ)
            for function in options.tools(client)
        ),
    )
