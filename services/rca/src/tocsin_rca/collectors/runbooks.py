"""What people wrote down to do about the alert."""

from tocsin_contracts import EvidenceKind
from tocsin_rca.collectors.inquiry import Inquiry, Observations, together
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence.runbook_links import runbook_links
from tocsin_rca.ports import Runbooks


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the runbooks of every place that has one; a place that has none says nothing."""
    query = next(iter(runbook_links(target.alert)), f"runbook of {target.alert.title}")
    return await together(
        inquiry.ask(one.source, query, _look(one, target, inquiry)) for one in inquiry.runbooks
    )


async def _look(runbooks: Runbooks, target: Target, inquiry: Inquiry) -> Observations:
    inquiry.budget.spend()
    return tuple(
        inquiry.saw(
            EvidenceKind.RUNBOOK, one.where, one.text, one, source=runbooks.source, ref=one.where
        )
        for one in await runbooks.about(target.alert)
    )
