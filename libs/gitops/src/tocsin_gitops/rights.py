"""Which rules of a Role may be given one more right."""

from tocsin_contracts import Tree

_GUARDED = (
    *("secrets", "serviceaccounts", "serviceaccounts/token", "nodes", "nodes/proxy"),
    *("pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy"),
    *("pods/ephemeralcontainers", "certificatesigningrequests", "*"),
)
"""Resources with which one takes over more than was given."""

_GUARDED_GROUPS = (
    *("*", "rbac.authorization.k8s.io", "certificates.k8s.io", "admissionregistration.k8s.io"),
    *("authentication.k8s.io", "authorization.k8s.io"),
)


def ordinary(rule: Tree) -> str:
    """Say why a rule is given no more rights; nothing if it is about ordinary resources by name."""
    listed = rule if isinstance(rule, dict) else {}
    resources, groups = _words(listed.get("resources")), _words(listed.get("apiGroups"))
    guarded = {*resources} & {*_GUARDED} or {*groups} & {*_GUARDED_GROUPS}
    if not resources or not groups or "nonResourceURLs" in listed:
        return "the rule does not name the resources that it is for"
    if guarded or any("*" in word for word in resources):
        return f"rights to {', '.join(sorted({*resources}))} are for a person to give"
    return ""


def _words(value: Tree) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []
