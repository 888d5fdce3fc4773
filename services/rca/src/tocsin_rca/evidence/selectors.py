"""How far the labels of a pod are from what a Service selects."""

from collections.abc import Mapping


def differing_keys(selector: Mapping[str, str], labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of a selector that the labels do not satisfy; none means selected."""
    return tuple(key for key, value in selector.items() if labels.get(key) != value)


def selects(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether a Service with that selector selects a pod; an empty selector selects nothing."""
    return bool(selector) and not differing_keys(selector, labels)


def is_named_for(service: str, workload: str) -> bool:
    """Whether a Service is called after a workload, or a workload after its Service."""
    return _stem(service) == _stem(workload)


def _stem(name: str) -> str:
    for suffix in ("-service", "-svc", "-headless", "-deployment"):
        name = name.removesuffix(suffix)
    return name
