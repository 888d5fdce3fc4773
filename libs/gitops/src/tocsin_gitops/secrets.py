"""Which values of the environment must never be shown, because gitops.yaml names them as tokens."""

from collections.abc import Iterator, Mapping

from tocsin_gitops.config import GitOps
from tocsin_gitops.fetching import basic


def known(gitops: GitOps, environment: Mapping[str, str]) -> frozenset[str]:
    """Return the tokens of all providers in use, also as git sends them."""
    return frozenset(_secrets(gitops, environment))


def _secrets(gitops: GitOps, environment: Mapping[str, str]) -> Iterator[str]:
    for provider in gitops.remote_providers:
        for variable in provider.variables:
            value = environment.get(variable, "").strip()
            if value:
                yield value
                yield basic(provider.type, value)
