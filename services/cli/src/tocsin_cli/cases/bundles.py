"""Lay a recorded failure out as a bundle, the form in which Tocsin reads what people saved."""

import json
import re
from pathlib import Path

from tocsin_cli.cases.recorded import Item, Recorded

_COMMANDS = {
    "describe": "kubectl describe",
    "logs": "kubectl logs",
    "previous_logs": "kubectl logs --previous",
    "events": "kubectl get events",
    "list": "kubectl get",
    "pod_status": "kubectl get pods",
    "top_pods": "kubectl top pods",
    "top_nodes": "kubectl top nodes",
    "git_history": "git log -p",
    "argocd_app": "argocd app get",
    "argocd_diff": "argocd app diff",
    "note": "note",
}
"""The command that prints what is called so; others are kinds of objects."""

_VERBS = ("get", "describe", "logs", "top", "events", "apply", "create", "rollout", "auth", "exec")
"""Verbs that a command may begin with where it is said that kubectl was run."""

_NAME = re.compile(r"^Name:\s{1,40}(?P<name>\S{1,253})", re.MULTILINE)
_OF_ONE = re.compile(r"^\s{0,8}Type\s{1,40}Reason\s{1,60}Age\s", re.MULTILINE)
"""The heading of events that stand below the description of one object."""

_LABELS = (
    ("pod", "pod"),
    ("deployment", "deployment"),
    ("statefulset", "statefulset"),
    ("daemonset", "daemonset"),
    ("job_name", "job"),
    ("persistentvolumeclaim", "pvc"),
    ("horizontalpodautoscaler", "hpa"),
    ("ingress", "ingress"),
    ("service", "service"),
    ("node", "node"),
)
_MARKS = {
    "ingress": re.compile(r"^(?:Rules|Default backend|Ingress Class):", re.MULTILINE),
    "service": re.compile(r"^(?:Type|IP|Session Affinity|Endpoints):\s", re.MULTILINE),
}
"""What stands in every description of a kind whose name others often have as well."""


def write(case: Recorded, folder: Path) -> None:
    """Write the bundle of a case into a new folder."""
    folder.mkdir(parents=True)
    index = f"namespace: {json.dumps(case.namespace)}\n"
    (folder / "index.yaml").write_text(index, encoding="utf-8")
    for number, item in enumerate(case.evidence, start=1):
        name = f"{number:03} {re.sub(r'[^a-z0-9_-]+', '-', item.kind.lower())}.txt"
        text = f"$ {_command(item, case)}\n{_text(item)}"
        (folder / name).write_text(text, encoding="utf-8")


def _command(item: Item, case: Recorded) -> str:
    if item.command:
        words = item.command.replace("\n", " ").strip()
        short = item.kind == "kubectl" and words.partition(" ")[0] in _VERBS
        return f"kubectl {words}" if short else words
    command = _COMMANDS.get(item.kind, f"kubectl get {item.kind}")
    if item.kind == "describe" or (item.kind == "events" and _OF_ONE.search(_text(item))):
        command = f"kubectl describe {_named(case, _text(item))}".strip()
    in_namespace = command.startswith("kubectl") and case.namespace
    return f"{command} -n {case.namespace}" if in_namespace else command


def _named(case: Recorded, text: str) -> str:
    """Return what the alert is about: a description without a name, or with that, must be of it."""
    name = _NAME.search(text)
    labels = case.alert.get("labels") or {}
    found = (
        f"{kind} {labels[label]}"
        for label, kind in _LABELS
        if labels.get(label)
        and (name is None or name["name"] == labels[label])
        and (kind not in _MARKS or _MARKS[kind].search(text))
    )
    return next(found, "")


def _text(item: Item) -> str:
    return item.text if item.text is not None else json.dumps(item.data)
