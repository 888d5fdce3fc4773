"""The cluster's own brain: scheduler, API server, its store and its controllers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.components import absent, ailing
from tocsin_rca.evidence.concern import alert_id, alert_words, proof
from tocsin_rca.evidence.inference import silent
from tocsin_rca.evidence.statements import told
from tocsin_rca.evidence.units import units
from tocsin_rca.evidence.unscheduled import unscheduled

_NO_EVENTS = re.compile(r"(?m)^Events: {1,40}<none>")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the control plane, and how it shows that it does not work."""

    cause: CauseClass
    names: tuple[str, ...]
    alert: re.Pattern[str]
    said: re.Pattern[str]


_PARTS = (
    _Part(
        CauseClass.SCHEDULER_DOWN,
        ("kube-scheduler",),
        re.compile(r"KubeSchedulerDown|(?i:scheduler.{0,30}(?:is down|not running|disappeared))"),
        _NEVER,
    ),
    _Part(
        CauseClass.CONTROL_PLANE_DOWN,
        ("kube-apiserver", "kube-controller-manager", "etcd", "cloud-controller-manager"),
        re.compile(
            r"KubeAPI(?:Down|TerminatedRequests)|KubeControllerManagerDown|etcd(?:NoLeader"
            r"|Members?Down"
            r"|InsufficientMembers|HighNumberOfLeaderChanges|DatabaseQuotaLowSpace"
            r"|MemberCommunication)"
            r"|(?i:(?:api.?server|control.?plane|etcd).{0,30}(?:is down|not running|unreachable"
            r"|unavailable|disappeared|not responding))"
        ),
        re.compile(
            r"The connection to the server \S{1,120} was refused"
            r"|Unable to connect to the server: (?!x509)"
            r"|etcdserver: (?:request timed out|no leader|mvcc: database space exceeded"
            r"|leader changed"
            r"|too many requests)|apiserver not ready"
            r"|Error from server \(InternalError\): etcdserver"
            r"|failed to (?:acquire|renew) lease kube-system/kube-controller-manager"
        ),
    ),
)


class ControlPlane:
    """A check, a pod of kube-system, the alert or the API itself says that a part is down."""

    name = "control_plane"
    needs = (
        "Pods of the control plane, checks of the nodes' services, the alert, and what the API "
        "answered."
    )
    proof = (
        "A part of the control plane is stopped, in trouble or without a pod, or the alert or an "
        "unanswered request says so."
    )
    against = (
        "A connection that fails only at its certificate; a waiting pod about which events or "
        "the scheduler say something."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each part; it is put right where the cluster is run."""
        found = tuple(finding for part in _PARTS for finding in _findings(case, part))
        return found or tuple(_overlooked(case))


def _findings(case: Case, part: _Part) -> Iterator[Finding]:
    stopped = [one for one in units(case) if one.down and one.name in part.names]
    pods, said = ailing(case, part.names), told(case, part.said)
    gone = absent(case, part.names[0]) if part.cause is CauseClass.SCHEDULER_DOWN else ()
    alerted = part.alert.search(alert_words(case))
    signs: tuple[tuple[float, str, str, tuple[str, ...]], ...] = (
        (0.97, *(_of(stopped[0].name, stopped[0].state) if stopped else ("", "")), _ids(stopped)),
        (0.93, *(_of(pods[0].name, pods[0].state) if pods else ("", "")), _ids(pods)),
        (0.86, part.names[0] if gone else "", "has no pod, though an API server has", gone),
        (0.9, part.names[0] if alerted else "", "is down, as the alert says", alert_id(case)),
        (0.75, part.names[0] if said else "", "does not answer", _ids(said)),
    )
    for confidence, name, words, ids in signs:
        if name and ids:
            subject = ObjectRef(kind="Pod", namespace="kube-system", name=name)
            yield Finding(
                cause=part.cause,
                object=subject,
                confidence=confidence,
                summary=f"{name} {words}.",
                evidence=ids,
            )
            return


def _overlooked(case: Case) -> Iterator[Finding]:
    """Yield a doubt about the scheduler where a pod waits and nobody says a word about it."""
    waiting = silent(case)
    if waiting is None or waiting.about is None or waiting.about.kind != "Pod":
        return
    name = waiting.about.name
    texts = [t for t in case.texts("describe", "Pod") if name in t.data.text]
    described = [one.id for one in texts if _NO_EVENTS.search(one.data.text)]
    if described and unscheduled(case) is None and not case.events(waiting.about):
        yield Finding(
            cause=CauseClass.SCHEDULER_DOWN,
            object=ObjectRef(kind="Pod", namespace="kube-system", name="kube-scheduler"),
            confidence=0.64,
            summary=f"{waiting.about} waits for a node, and no scheduler has said why.",
            evidence=proof(case, waiting.id, *described),
        )


def _of(name: str, state: str) -> tuple[str, str]:
    return name, f"is {state}"


def _ids(found: object) -> tuple[str, ...]:
    ids = (str(getattr(one, "id", "")) for one in found) if isinstance(found, list | tuple) else ()
    return tuple(dict.fromkeys(one for one in ids if one))[:3]
