"""What shows that a program holds more and more: its log, measurements, or its own endless loop."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.printed import Printed
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.growth import climbs, only_grows, piles_up, row_grows, table_grows
from tocsin_rca.evidence.metric import Measure

_LONGEST = 8000
_ENDLESS = re.compile(
    r"while ?\(?(?:True|true|1|:)\)?[ :;{\n]|for ?\(;;\)|for \{|\bloop \{|setInterval\("
)
_KEEPS = re.compile(r"\.(?:append|push|extend|add)\(|\+= ?(?:['\"]|b['\"]|\[|x\b)|= ?append\(")
_LETS_GO = re.compile(
    r"\.(?:clear|pop|popleft|shift|truncate)\(|\bdel |len\(\w{1,40}\) ?>|\bbreak\b"
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Something that only grows: which evidence shows it, of which pod if it says, and how."""

    id: str
    pod: str
    how: str
    measured: bool = True


def growths(case: Case) -> tuple[Growth, ...]:
    """Return all that shows it."""
    return case.memo.once("growths", lambda: tuple(_growths(case)))


def _growths(case: Case) -> Iterator[Growth]:
    for log in case.logs:
        if only_grows(log.data.text):
            yield Growth(log.id, log.data.pod, "the memory that its log reports only ever grows")
        elif piles_up(log.data.text):
            yield Growth(log.id, log.data.pod, "what its log says it keeps only ever grows")
    for seen in case.observations:
        text = seen.data.text if isinstance(seen.data, Printed) else ""
        if text and (table_grows(text) or row_grows(text)):
            yield Growth(seen.id, "", "its memory is more each time it was measured")
    for one in case.metrics:
        samples = one.data.series.samples if one.data.measure is Measure.MEMORY else ()
        times, values = [s.at.timestamp() for s in samples], [s.value for s in samples]
        if climbs(times, values):
            pod = one.data.series.labels.get("pod", "")
            yield Growth(one.id, pod, "its measured memory climbs and never falls")
    yield from _written_so(case)


def _written_so(case: Case) -> Iterator[Growth]:
    """A program that stands in the manifest, adds in an endless loop and never lets go."""
    workload = design(case)
    for container in workload.data.containers() if workload else ():
        said = (*(container.dig("command") or ()), *(container.dig("args") or ()))
        text = "\n".join(str(one) for one in said)[:_LONGEST]
        loop = _ENDLESS.search(text)
        if workload and loop and _KEEPS.search(text, loop.start()) and not _LETS_GO.search(text):
            yield Growth(workload.id, "", "its loop keeps all it makes", measured=False)
