"""Service accounts that lack a right which the program needs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import is_ours, owner_of, proof
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.pod_needs import spec_of
from tocsin_rca.evidence.statements import Told, logged, told

_DENIED = re.compile(
    r"User \\{0,3}\"(?P<user>[^\"\\\n]{1,300})\\{0,3}\" cannot (?P<verb>[\w*-]{1,40})"
    r" (?:(?:resource|path) \\{0,3}\"(?P<resource>[^\"\\\n]{1,200})\\{0,3}\""
    r"|(?P<resources>[a-z][\w./-]{1,100}) (?=in the namespace|at the cluster))"
    r"(?: in API group \\{0,3}\"(?P<group>[^\"\\\n]{0,200})\\{0,3}\")?"
    r"(?: ?in the namespace \\{0,3}\"(?P<namespace>[^\"\\\n]{1,100})\\{0,3}\")?"
)
_ESCALATION = re.compile(
    r"user \\{0,3}\"(?P<user>[^\"\\\n]{1,300})\\{0,3}\"[^\n]{0,300}is attempting to grant RBAC"
    r" permissions not currently held"
)
_ACCOUNT = re.compile(r"system:serviceaccount:(?P<namespace>[\w.-]{1,100}):(?P<name>[\w.-]{1,253})")


@dataclass(frozen=True, slots=True)
class _Denial:
    """What was denied to whom, in the words of the API server."""

    told: Told
    account: ObjectRef | None
    user: str
    what: str


class Rbac:
    """The API server says which verb on which resource is denied to whom."""

    name = "rbac"
    needs = (
        "The words of the API server in logs or events, and the roles and bindings of the account."
    )
    proof = (
        "The API server says which verb on which resource it denies to whom, or that somebody "
        "would grant more than they hold."
    )
    against = (
        "The account is not the one that the workload runs as; the words come from another "
        "workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for the first denial; no right is ever given by a change."""
        found = sorted(_denials(case), key=lambda one: -_confidence(case, one))
        return tuple(_finding(case, one) for one in found[:1])


def _denials(case: Case) -> Iterator[_Denial]:
    for one in (*logged(case, _DENIED), *told(case, _DENIED)):
        said = one.match.groupdict()
        group = f".{said['group']}" if said["group"] else ""
        where = f" in namespace {said['namespace']}" if said["namespace"] else " in the cluster"
        what = f"{said['verb']} {said['resource'] or said['resources']}{group}{where}"
        user = "".join(said["user"].split())
        yield _Denial(one, _account(user), user, what)
    for one in (*logged(case, _ESCALATION), *told(case, _ESCALATION)):
        user = one.match["user"]
        yield _Denial(one, _account(user), user, "grant rights that it does not hold")


def _account(user: str) -> ObjectRef | None:
    found = _ACCOUNT.fullmatch(user)
    if found is None:
        return None
    return ObjectRef(kind="ServiceAccount", namespace=found["namespace"], name=found["name"])


def _confidence(case: Case, one: _Denial) -> float:
    manifest = case.workload_manifest
    own = spec_of(manifest.data).get("serviceAccountName") if manifest else None
    if one.account and own == one.account.name:
        return 0.94
    if own and one.account:
        return 0.75 if is_ours(case, one.told.about) else 0.65
    return 0.93 if is_ours(case, one.told.about) else 0.7


def _finding(case: Case, one: _Denial) -> Finding:
    role, ids = _role(case, one.account) if one.account else (None, ())
    fallback = one.account or owner_of(case, one.told.about) or case.named
    return Finding(
        cause=CauseClass.RBAC_DENIED,
        object=role or fallback or ObjectRef(kind="User", name=one.user),
        confidence=_confidence(case, one),
        summary=f"{one.account or one.user} may not {one.what}"
        f"{f'; its rights come from {role}' if role else ''}.",
        evidence=proof(case, one.told.id, *ids),
        because="Which rights a program should have is for a person to decide.",
    )


def _role(case: Case, account: ObjectRef) -> tuple[ObjectRef | None, tuple[str, ...]]:
    """Return the one role that the account is bound to; the binding if it is for another."""
    bindings = [b for kind in ("RoleBinding", "ClusterRoleBinding") for b in case.manifests(kind)]
    own = [binding for binding in bindings if _is_for(binding.data, account)]
    roles = {_bound(binding) for binding in own}
    if len(roles) == 1:
        role = roles.pop()
        seen = case.manifest(role)
        return role, (*(one.id for one in own), *([seen.id] if seen else []))
    return None, tuple(one.id for one in own)


def _is_for(binding: Manifest, account: ObjectRef) -> bool:
    return any(
        subject.get("kind") == "ServiceAccount"
        and subject.get("name") == account.name
        and subject.get("namespace", binding.ref.namespace) in ("", account.namespace)
        for subject in binding.items("subjects")
    )


def _bound(binding: Observation[Manifest]) -> ObjectRef:
    kind = str(binding.data.dig("roleRef", "kind") or "Role")
    namespace = "" if kind == "ClusterRole" else binding.data.ref.namespace
    name = str(binding.data.dig("roleRef", "name"))
    return ObjectRef(kind=kind, namespace=namespace, name=name)
