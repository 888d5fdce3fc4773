"""What came of earlier runs about the same incident or the same workload."""

from datetime import datetime

from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.distances import distance
from tocsin_rca.ports import PastRun


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the earlier runs, the newest first; nothing where no runs are kept."""
    past, run_id = inquiry.past, inquiry.run_id
    if past is None or run_id is None:
        return ()

    async def look() -> Observations:
        inquiry.budget.spend()
        start = target.alert.starts_at
        return tuple(
            inquiry.saw(
                EvidenceKind.PAST,
                f"run {one.run_id}",
                _told(one, start),
                one,
                source=past.source,
                ref=one.pull_request or one.run_id,
            )
            for one in await past.before(run_id, target.alert)
        )

    return await inquiry.ask(past.source, "earlier runs about the same", look())


def _told(one: PastRun, start: datetime | None) -> str:
    what = "incident" if one.same_incident else "workload"
    when = distance(one.opened_at, start)
    began = f"began at {one.opened_at.isoformat()}" + (f", {when}" if when else "")
    lines = [f"run {one.run_id} about the same {what}, {one.title}, {began}; it is {one.state}"]
    if one.finding:
        cause, who = one.finding.cause.value, one.finding.object
        lines.append(f"its cause was {cause} of {who}: {one.finding.summary}")
    if one.pull_request:
        lines.append(f"its pull request is {one.pull_request}")
    if one.ending:
        lines.append(f"it ended: {one.ending}")
    return "\n".join(lines)
