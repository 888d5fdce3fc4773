"""Workloads whose service account does not exist."""

import re

from tocsin_cluster.manifest import POD_TEMPLATE
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.pod_needs import spec_of
from tocsin_rca.evidence.statements import Told, told

_ABSENT = re.compile(
    r"(?:error looking up service account [\w./-]{1,300}: )?"
    r"service ?accounts? \\?\"(?P<name>[\w.-]{1,253})\\?\" not found"
)
_FIELD = "serviceAccountName"
_Change = tuple[FieldChange | None, str, tuple[str, ...]]


class ServiceAccount:
    """The API server refuses the pods as it knows no such service account."""

    name = "service_account"
    needs = (
        "The words of the API server, the account that the workload names, and the accounts there "
        "are."
    )
    proof = "The API server says that the service account of the pods is not found."
    against = (
        "The account is there by now and pods were made with it; the words are about another "
        "workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the change goes to the one account that was meant, if it is sure."""
        found = told(case, _ABSENT)
        return _finding(case, max(found, key=lambda one: sure(case, one.about, 1))) if found else ()


def _finding(case: Case, one: Told) -> tuple[Finding, ...]:
    owner, name = owner_of(case, one.about), one.match["name"]
    if owner is None or _was_made(case, owner, name):
        return ()
    change, because, ids = _change(case, owner, name)
    return (
        Finding(
            cause=CauseClass.SERVICE_ACCOUNT_NOT_FOUND,
            object=owner,
            confidence=sure(case, one.about, 0.96),
            summary=f"{owner} should run as service account {name}, which does not exist.",
            evidence=proof(case, one.id, *ids),
            change=change,
            because=because,
        ),
    )


def _was_made(case: Case, owner: ObjectRef, name: str) -> bool:
    """Whether the cluster shows the account by now, and a pod that was made with it."""
    shown = any(one.data.ref.name == name for one in case.objects("ServiceAccount"))
    return shown and bool(case.pods or case.events(owner, reason="SuccessfulCreate"))


def _change(case: Case, owner: ObjectRef, name: str) -> _Change:
    manifest = case.manifest(owner)
    if manifest is None or spec_of(manifest.data).get(_FIELD) != name:
        return None, "No manifest that was seen declares the account.", ()
    path = (*POD_TEMPLATE.get(owner.kind, ()), "spec", _FIELD)
    accounts = {
        one.data.ref.name: one
        for one in case.manifests("ServiceAccount")
        if one.data.ref.namespace in ("", owner.namespace)
    }
    commit = case.last_change(owner, path, name)
    if commit and isinstance(commit.field.before, str):
        because = f"{commit.told} changed it from {commit.field.before}; this undoes that."
        new = commit.field.before
        return FieldChange(object=owner, path=path, old=name, new=new), because, (commit.seen.id,)
    if name in accounts:
        return None, "A file declares the account: it has to be applied.", (accounts[name].id,)
    right = meant(name, accounts)
    if right is None:
        return None, "No account of the namespace is surely the one that was meant.", ()
    because = f"{right} is the only account of the namespace with a name like it."
    change = FieldChange(object=owner, path=path, old=name, new=right)
    return change, because, (accounts[right].id,)
