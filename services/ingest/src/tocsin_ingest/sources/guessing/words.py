"""What fields are usually called, and what their words say: the tables behind the guessing."""

import re
from typing import Any

from tocsin_contracts import AlertStatus
from tocsin_ingest import values


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TITLES = _words(
    "title alertname alerttitle eventtitle problemtitle incidenttitle rulename alertrule checkname "
    "monitorname monitorfriendlyname testname sensorname policyname detector name displayname "
    "label subject headline alert problem monitor check servicename rule messagetitle summary "
    "message alertmessage text msg content datasource service description alertdescription alias"
)
WEAK_TITLES = _words("resourcename url target host hostname reason event eventtype")
"""Taken where nothing in the whole body is a title."""

SUMMARIES = _words(
    "summary description alertdescription details alertdetails longdescription message text "
    "output checkoutput alertmessage eventmsg body messagebody reason incidentreason info"
)
STATES = _words(
    "status state alertstatus alertstate currentstate currentstatus newstate newstatus "
    "resolutionstate monitorstatus monitorcondition checkresult alertstatusstring alertaction "
    "action actiontype eventaction eventtype event alerttype alerttypefriendlyname "
    "notificationtype statusextended eventname triggertype type"
)
LEVELS = _words("severity level priority")
SEVERITIES = _words(
    "severity alertseveritystring severitystring severitylabel alertseverity severitylevel "
    "priority level criticality urgency importance importancelevel loglevel impact"
)
STARTS = _words(
    "startsat starttime startedat startat start startdate firedat triggeredat triggertime "
    "triggeredon openedat datestart datestartzoned incidenttimeiso begin outagetimeunixformat "
    "timeraised firstseen occurredat"
)
ENDS = _words(
    "endsat endtime endedat end enddate resolvedat closedat recoveredat clearedat canceldate "
    "dateend dateendzoned"
)
RESOLVED_AT = _words("resolvedat closedat recoveredat clearedat")
TIMES = _words(
    "timestamp time eventtime date datetime alertdatetime statechangedtimestamp createdat ts "
    "recordedat notificationtime updatedat"
)
LINKS = _words(
    "alerturl alertlink permalink link incidenturl detailsurl alertdetailsurl url clienturl "
    "titlelink monitordashboardlink dashboardurl detectorurl generatorurl logurl rcalink "
    "runbookurl"
)
KEYS = _words("dedupkey deduplicationkey incidentkey alias fingerprint alertkey")
"""What a sender itself calls an alert, the same whether it fires or is over."""

_RANKED = _words(
    "alert alertgroup incident event issue problem raw data payload attributes notification "
    "details attachments check checkin monitor snitch fault error item site heartbeat test rule "
    "service outage agent device labels"
)
ABOUT = frozenset(_RANKED) - {"service", "device", "agent", "labels"}
"""Objects whose state and times are those of the alert."""

THINGS = frozenset(
    _words(
        "check checkin monitor snitch site heartbeat test rule service device host node detector "
        "agent error item issue alert alertgroup incident fault event attributes raw data payload "
        "details labels entity resource involvedobject"
    )
)
"""Objects whose names and numbers tell alerts apart."""

HOLDERS = frozenset(_words("raw data payload attributes details event involvedobject labels"))
"""Objects that only wrap the fields of the alert."""

ALERTS = frozenset(_words("alert alertgroup incident raw data payload attributes details event"))
"""Objects that are the alert itself."""

STRANGERS = frozenset(
    _words(
        "account board channel company contact creator integration organization owner page project "
        "repository sender space team tenant user workspace"
    )
)
"""Objects that have a name, and not the name of what is wrong."""

_WRAPPED_IDS = frozenset(_words("id name url slug"))
_IDENTITY = re.compile(
    r"(monitor|check|test|rule|sensor|heartbeat|policy"
    r"|detector|device|host|node|server|service|resource|entity|application|app|instance|cluster"
    r"|namespace|pod|container|deployment|statefulset|daemonset|cronjob|job|datasource|datapoint"
    r"|region|zone|environment|env|project|tenant|site|queue|topic|database|component|target"
    r"|domain|snitch|workload|originatingmetric)"
    r"(id|name|friendlyname|key|address|url|shortname)?|domainnameid|name"
    r"|alert|alertname|alertid|alertrule|alertruleid|incidentid"
)
_RESOLVED = frozenset(_words(values.RESOLVED + " online reporting good fixed succeeded passed"))
_FIRING = frozenset(
    _words(
        "firing fired fire trigger triggered active activated open opened alert alerting down "
        "problem critical major minor error err fail failed failure failing warn warning created "
        "create new offline missing raised raise occurred unhealthy degraded acknowledged "
        "acknowledge ack unreachable timeout anomalous outage unavailable emergency disaster"
    )
)
_CALM = frozenset(_words("ok clear cleared resolved recovered recovery"))
"""Severities that say that it is over; a normal or a low one does not."""

_OVER = frozenset(_words("resolved recovered cleared"))
"""Words that say it anywhere in a code: `resolved_item`, `ResolvedCritical`."""

_DENIAL = frozenset(_words("not no never un failed failure cannot partially"))
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NOW = re.compile(r"\(now: (\w+)\)")
_MARK = re.compile(r"\W*([A-Za-z]+)(?::\d+)?\W+")
_MOST_WORDS = 2
"""Words of a state; more are a sentence, and a sentence says nothing for sure."""

_GOOD_FLAGS = ("isok", "isup", "ok", "up", "resolved", "isresolved", "recovered", "ishealthy")
_BAD_FLAGS = ("down", "isdown", "firing", "isfiring", "triggered", "active", "isactive")
FLAGS = (*_GOOD_FLAGS, *_BAD_FLAGS)
_YES = frozenset(("true", "1", "yes"))
_NO = frozenset(("false", "0", "no"))


def rank(name: str) -> int:
    """Return how near an object of this name is to the alert; less is nearer."""
    return _RANKED.index(name) if name in _RANKED else len(_RANKED)


def last(text: str) -> str:
    """Return the word that a code ends with: `ALERT_LEVEL_WARNING` says `warning`."""
    tokens = _tokens(text)
    return tokens[-1] if tokens else ""


def state(text: str) -> AlertStatus | None:
    """Return what a state or the name of an event says; None where that is not sure."""
    now = _NOW.search(text)
    said = now[1] if now else text
    tokens = _tokens(said)
    if not tokens or len(said.split()) > _MOST_WORDS:
        return None
    if tokens[-1] in _RESOLVED or _OVER.intersection(tokens):
        denied = _DENIAL.intersection(tokens)
        return AlertStatus.FIRING if denied else AlertStatus.RESOLVED
    return AlertStatus.FIRING if tokens[-1] in _FIRING else None


def level(text: str) -> AlertStatus | None:
    """Return that it is over, where a severity says so."""
    return AlertStatus.RESOLVED if text.lower() in _CALM else None


def flag(name: str, value: Any) -> AlertStatus | None:
    """Return what a yes or no says under a name of FLAGS; None where it is neither."""
    said = str(value).lower()
    if said not in _YES | _NO:
        return None
    over = (said in _YES) is (name in _GOOD_FLAGS)
    return AlertStatus.RESOLVED if over else AlertStatus.FIRING


def marked(title: str) -> AlertStatus | None:
    """Return what the mark says that a title begins with: `[RESOLVED] DiskFull`."""
    mark = _MARK.match(title)
    return state(mark[1]) if mark and not title[0].isalnum() else None


def without_states(title: str) -> str:
    """Return a title without the words that change when an alert is over."""
    kept = (part for part in title.split() if not (_RESOLVED | _FIRING).intersection(_tokens(part)))
    return " ".join(kept) or title


def is_identity(thing: str, name: str) -> bool:
    """Return whether a field of the body, or of a thing in it, tells alerts apart."""
    if thing in THINGS - HOLDERS and name in _WRAPPED_IDS:
        return True
    return _IDENTITY.fullmatch(name) is not None


def _tokens(text: str) -> list[str]:
    """The words of a sentence or a code: `checkRecovered` is two."""
    return [token.lower() for token in _TOKEN.findall(text)]
