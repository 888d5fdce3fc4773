"""Alert sources. To add one: write its file, then name it in BUILTIN."""

from collections.abc import Mapping, Sequence

from tocsin_ingest.mapping import SourceMapping
from tocsin_ingest.ports import AlertSource
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_ingest.sources.argocd import ArgoCd
from tocsin_ingest.sources.azure_monitor import AzureMonitor
from tocsin_ingest.sources.bigpanda import BigPanda
from tocsin_ingest.sources.chat import Chat
from tocsin_ingest.sources.checkmk import Checkmk
from tocsin_ingest.sources.cloudevents import CloudEvents
from tocsin_ingest.sources.cloudwatch import CloudWatch
from tocsin_ingest.sources.datadog import Datadog
from tocsin_ingest.sources.dynatrace import Dynatrace
from tocsin_ingest.sources.eventbridge import EventBridge
from tocsin_ingest.sources.falco import Falco
from tocsin_ingest.sources.gcp_monitoring import GcpMonitoring
from tocsin_ingest.sources.generic import Generic
from tocsin_ingest.sources.grafana import Grafana
from tocsin_ingest.sources.graylog import Graylog
from tocsin_ingest.sources.kibana import Kibana
from tocsin_ingest.sources.kubernetes_event import KubernetesEvent
from tocsin_ingest.sources.mapped import Mapped
from tocsin_ingest.sources.nagios import Nagios
from tocsin_ingest.sources.netdata import Netdata
from tocsin_ingest.sources.newrelic import NewRelic
from tocsin_ingest.sources.opsgenie import Opsgenie
from tocsin_ingest.sources.pagerduty import PagerDuty
from tocsin_ingest.sources.pagerduty_events import PagerDutyEvents
from tocsin_ingest.sources.sentry import Sentry
from tocsin_ingest.sources.splunk import Splunk
from tocsin_ingest.sources.uptime_kuma import UptimeKuma
from tocsin_ingest.sources.victorops import VictorOps
from tocsin_ingest.sources.zabbix import Zabbix
from tocsin_kit.registry import Registry, installed

KIND = "alert sources"
GROUP = "tocsin.alert_sources"
"""The entry points of packages that bring sources."""

BUILTIN: tuple[AlertSource, ...] = (
    Alertmanager(),
    ArgoCd(),
    AzureMonitor(),
    BigPanda(),
    Chat(),
    Checkmk(),
    CloudEvents(),
    CloudWatch(),
    Datadog(),
    Dynatrace(),
    EventBridge(),
    Falco(),
    GcpMonitoring(),
    Generic(),
    Grafana(),
    Graylog(),
    Kibana(),
    KubernetesEvent(),
    Nagios(),
    Netdata(),
    NewRelic(),
    Opsgenie(),
    PagerDuty(),
    PagerDutyEvents(),
    Sentry(),
    Splunk(),
    UptimeKuma(),
    VictorOps(),
    Zabbix(),
)


def load(
    plugins: Sequence[str] = (), mappings: Mapping[str, SourceMapping] | None = None
) -> Registry[AlertSource]:
    """Return every source: ours, the installed ones that are named, those that were described.

    Raises PermanentError for a plugin that does not load, and for two sources of one name.
    """
    described = (Mapped(name, mapping) for name, mapping in (mappings or {}).items())
    return Registry[AlertSource](KIND, [*BUILTIN, *installed(KIND, GROUP, plugins), *described])
