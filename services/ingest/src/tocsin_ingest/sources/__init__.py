"""Alert sources. To add one: write its file, then name it in BUILTIN."""

from tocsin_ingest.ports import AlertSource
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_ingest.sources.bigpanda import BigPanda
from tocsin_ingest.sources.chat import Chat
from tocsin_ingest.sources.datadog import Datadog
from tocsin_ingest.sources.dynatrace import Dynatrace
from tocsin_ingest.sources.grafana import Grafana
from tocsin_ingest.sources.kibana import Kibana
from tocsin_ingest.sources.newrelic import NewRelic
from tocsin_ingest.sources.opsgenie import Opsgenie
from tocsin_ingest.sources.pagerduty import PagerDuty
from tocsin_ingest.sources.pagerduty_events import PagerDutyEvents
from tocsin_ingest.sources.sentry import Sentry
from tocsin_ingest.sources.splunk import Splunk
from tocsin_ingest.sources.uptime_kuma import UptimeKuma
from tocsin_ingest.sources.victorops import VictorOps
from tocsin_ingest.sources.zabbix import Zabbix
from tocsin_kit.registry import Registry

BUILTIN: tuple[AlertSource, ...] = (
    Alertmanager(),
    BigPanda(),
    Datadog(),
    Dynatrace(),
    Grafana(),
    Kibana(),
    NewRelic(),
    Opsgenie(),
    PagerDuty(),
    PagerDutyEvents(),
    Sentry(),
    Splunk(),
    UptimeKuma(),
    VictorOps(),
    Zabbix(),
    Chat(),
)


def load() -> Registry[AlertSource]:
    """Return every source that is known."""
    return Registry[AlertSource]("alert sources", BUILTIN)
