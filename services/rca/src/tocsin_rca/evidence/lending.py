"""The value of an environment variable that a workload lacks, where what was seen shows it."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Container, Manifest
from tocsin_contracts import Tree
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy, appended, inserted
from tocsin_rca.evidence.starting import words

_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


def lent(case: Case, name: str) -> Remedy | None:
    """Return what sets a variable, if one container lacks it and its value is known.

    Another container with the same image, or of the same pods, may set it; or the container's own
    script, which asks for no more than that there is one.
    """
    seen = design(case)
    if seen is None:
        return None
    lacking = [one for one in seen.data.containers() if name not in dict(_set(one))]
    if len(lacking) != 1:
        return _of_script(case, seen, name) if len(seen.data.containers()) == 1 else None
    return _of_others(case, seen, lacking[0], name) or _of_script(case, seen, name)


def _of_others(
    case: Case, seen: Observation[Manifest], lacking: Container, name: str
) -> Remedy | None:
    found = {
        value: id_
        for id_, one in _alike(case, seen, lacking)
        if (value := dict(_set(one)).get(name))
    }
    if len(found) != 1:
        return None
    value, id_ = found.popitem()
    because = f"A container that runs beside it or runs the same image sets {name} to {value!r}."
    return _adding(seen, lacking, {"name": name, "value": value}, because, id_)


def _alike(
    case: Case, seen: Observation[Manifest], lacking: Container
) -> Iterator[tuple[str, Container]]:
    for one in seen.data.containers():
        if one.name != lacking.name:
            yield seen.id, one
    for kind in _WORKLOADS:
        for other in case.manifests(kind):
            near = other.data.ref.namespace in ("", seen.data.ref.namespace)
            for one in other.data.containers() if near and other.data.ref != seen.data.ref else ():
                if one.dig("image") == lacking.dig("image"):
                    yield other.id, one


def _of_script(case: Case, seen: Observation[Manifest], name: str) -> Remedy | None:
    """A script that only asks whether it is empty runs the same with any value."""
    place = seen.data.ref.namespace or next((pod.data.ref.namespace for pod in case.pods), "")
    uses = re.compile(rf"\$\{{?{re.escape(name)}\b")
    asks = re.compile(rf"-z \"?\$\{{?{re.escape(name)}\}}?\"?")
    texts = [(container, text) for _, container, _, text in words(case) if uses.search(text)]
    only = len(texts) == 1 and len(uses.findall(texts[0][1])) == len(asks.findall(texts[0][1]))
    pod = next((pod for pod in case.pods if pod.data.ref.namespace == place), None)
    if not only or not place or pod is None:
        return None
    because = (
        f"The script asks only whether {name} is empty, so every value starts it: this is the name"
        " of its namespace. Put the value there that you want."
    )
    return _adding(seen, texts[0][0], {"name": name, "value": place}, because, pod.id)


def _adding(
    seen: Observation[Manifest], container: Container, entry: dict[str, Tree], why: str, id_: str
) -> Remedy | None:
    path, target = (*container.path, "env"), seen.data.ref
    held: list[Tree] = [dict(one) for one in container.items("env")]
    change = appended(target, path, held, entry) if held else inserted(target, path, [entry])
    return Remedy((change,), why, (seen.id, id_)) if change else None


def _set(container: Container) -> Iterator[tuple[str, str]]:
    for one in container.items("env"):
        value = one.get("value")
        yield str(one.get("name")), value if isinstance(value, str) else ""
