"""The one thing that a chat can set going: a run, which ends at people's approval as any other."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability, ToolContext, Toolset
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_agents.tools.wrappers.approval import Approver, needs_approval
from tocsin_contracts import (
    Alert,
    AlertStatus,
    Event,
    Incident,
    RunId,
    Severity,
    Workload,
    derive_id,
)
from tocsin_contracts.chat import ChatAsked
from tocsin_kit.intake import Admission, Intake, Outcome
from tocsin_kit.runs import RunStore
from tocsin_kit.untrusted import clean, line
from tocsin_rca.chat.ports import Opening

SERVER = "tocsin"
START = f"{SERVER}.start_investigation"
SOURCE = "chat"
"""As if it was said to the receiver: who asks for a run is not the one who approves its plan."""

_NAME = r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$"
_LABELS = {
    "Deployment": "deployment",
    "StatefulSet": "statefulset",
    "DaemonSet": "daemonset",
    "CronJob": "cronjob",
}

Title = Annotated[
    str, Field(min_length=3, max_length=120, description="What is wrong, in a few words.")
]
Words = Annotated[
    str, Field(max_length=1000, description="What is known of it, and what is wished, if anything.")
]
Kind = Annotated[
    str, Field(pattern=f"^({'|'.join(_LABELS)})$", description="The kind of the workload.")
]
Namespace = Annotated[str, Field(pattern=_NAME, description="The namespace of the workload.")]
Name = Annotated[str, Field(pattern=_NAME, description="The name of the workload.")]
Cluster = Annotated[
    str,
    Field(pattern=rf"{_NAME}|^$", description="Its cluster; empty if only one is connected."),
]


class Receiver:
    """Opens runs in the receiver's own records; what is not told at once it tells itself."""

    def __init__(self, intake: Intake, runs: RunStore) -> None:
        self._intake = intake
        self._runs = runs

    async def take(self, incident_key: str, alert: Alert) -> Admission:
        """Attach an alert to the open run of its incident, or open one."""
        admitted = await self._intake.admit(incident_key, alert)
        event: Event | None = admitted.stored.event if admitted.stored else None
        if admitted.outcome is Outcome.OPENED and event:
            await self._runs.create(event)
        await self._intake.tell(admitted)
        return admitted


class Starting:
    """The tool for one question; what it says of itself is untrusted, as any alert is."""

    def __init__(self, opening: Opening, asked: ChatAsked) -> None:
        self._opening = opening
        self._asked = asked

    def toolset(self, approver: Approver) -> Toolset:
        """Return the tools of the server `tocsin`; each waits for the approver's yes."""
        tool = FunctionTool(self.start_investigation, server=SERVER, capability=Capability.PROPOSE)
        return needs_approval(OwnTools(SERVER, (tool,)), approver)

    async def start_investigation(
        self,
        context: ToolContext,
        title: Title,
        kind: Kind,
        namespace: Namespace,
        name: Name,
        *,
        words: Words = "",
        cluster: Cluster = "",
    ) -> dict[str, Any]:
        """Start a run about a workload: its cause is looked for, and a fix may be drafted.

        People then decide about the fix; nothing is changed before. A workload whose run is open
        already gets no second one.
        """
        del context
        about = Workload(cluster=cluster, namespace=namespace, name=name, kind=kind)
        alert = self._alert(about, line(title), clean(words, 1000).text)
        admitted = await self._opening.take(alert.incident.key if alert.incident else "", alert)
        new = admitted.outcome is Outcome.OPENED
        return {"run": RunId(admitted.run_id or ""), "new": new}

    def _alert(self, about: Workload, title: str, words: str) -> Alert:
        asked, labels = self._asked, _labels(about)
        unique = f"{asked.run_id}:{asked.turn}:{sorted(labels.items())}"
        return Alert(
            source=SOURCE,
            instance=asked.by,
            fingerprint=derive_id(unique, SOURCE)[:16],
            status=AlertStatus.FIRING,
            title=title,
            severity=Severity.UNKNOWN,
            summary=words,
            labels=labels,
            annotations={"session": asked.run_id, "question": clean(asked.question, 1000).text},
            starts_at=asked.at,
            workload=about,
            incident=_incident(about),
        )


def _labels(about: Workload) -> dict[str, str]:
    named = {
        "cluster": about.cluster,
        "namespace": about.namespace,
        _LABELS.get(about.kind, "workload"): about.name,
    }
    return {name: text for name, text in named.items() if text}


def _incident(about: Workload) -> Incident:
    """Return the incident of every alert about a workload, as the receiver names it."""
    parts = {"cluster": about.cluster, "namespace": about.namespace, "workload": about.name}
    key = "|".join(("workload", *parts.values()))
    return Incident(key=key, parts={name: text for name, text in parts.items() if text})


def begun(data: Mapping[str, Any]) -> str:
    """Return the run that an answer of the tool names."""
    return str(data.get("run", ""))
