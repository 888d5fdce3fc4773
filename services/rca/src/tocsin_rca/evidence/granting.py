"""The one right of one rule that a denied request lacks, where nobody else would get it too."""

from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_gitops import additions, rights
from tocsin_gitops.bounds import Limits
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.remedy import Remedy, all_of, appended

_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the API server refused, in its own words; the namespace is empty for the cluster."""

    verb: str
    resource: str
    group: str
    namespace: str


def grant(case: Case, role: ObjectRef, refused: Iterable[Asked]) -> Remedy | None:
    """Return the verbs that one rule of a role lacks; None if any refusal needs more than that.

    The role has to be a whole Role of the namespace that is bound to one account only.
    """
    seen = case.manifest(role)
    asked = tuple(dict.fromkeys(refused))
    if role.kind != "Role" or seen is None or not seen.data.whole or not _is_for_one(case, role):
        return None
    rules = {one: _rule(seen.data, role, one) for one in asked}
    at = {index for index in rules.values() if index is not None}
    if None in rules.values() or len(at) != 1:
        return None
    (index,) = at
    verbs = [str(verb) for verb in seen.data.dig("rules", index, "verbs")]
    wanted = sorted({one.verb for one in asked})
    path = ("rules", index, "verbs")
    changes = all_of(
        appended(role, path, [*verbs, *wanted[:done]], verb) for done, verb in enumerate(wanted)
    )
    because = f"The program asks for {', '.join(wanted)}; the rule is for the same resource."
    return Remedy(changes, because, (seen.id,))


def _rule(role: Manifest, ref: ObjectRef, asked: Asked) -> int | None:
    """The one rule about the resource that may be given the verb and lacks it."""
    found = [
        index
        for index, rule in enumerate(role.items("rules"))
        if asked.resource in (rule.get("resources") or ())
        and asked.group in (rule.get("apiGroups") or ())
        and not rule.get("resourceNames")
    ]
    if len(found) != 1 or asked.namespace != ref.namespace:
        return None
    rule = dict(role.items("rules")[found[0]])
    good = not rights.ordinary(rule) and not additions.verb(None, asked.verb, Limits())
    return found[0] if good and asked.verb not in (rule.get("verbs") or ()) else None


def _is_for_one(case: Case, role: ObjectRef) -> bool:
    subjects = [
        (subject.get("kind"), subject.get("namespace"), subject.get("name"))
        for kind in _BINDINGS
        for one in case.manifests(kind)
        if (one.data.dig("roleRef", "kind"), one.data.dig("roleRef", "name"))
        == (role.kind, role.name)
        and one.data.ref.namespace == role.namespace
        for subject in one.data.items("subjects")
    ]
    return len(subjects) == 1
