"""GitHub's webhooks about pull requests, reviews, comments and pushes."""

from tocsin_contracts import ForgeEventReceived, ForgeKind
from tocsin_ingest.forge_hooks import hub
from tocsin_ingest.forge_hooks.telling import Teller, header, text_at
from tocsin_ingest.ports import Delivery

_MEANING: hub.Meaning = {
    ("pull_request", "closed"): hub.closed,
    ("pull_request", "reopened"): hub.reopened,
    ("pull_request", "synchronize"): hub.pushed_to,
    ("pull_request_review", "submitted"): hub.reviewed,
    ("pull_request_review_comment", "created"): hub.line_commented,
    ("issue_comment", "created"): hub.commented,
    ("push", ""): hub.pushed,
}


def read_hook(delivery: Delivery) -> ForgeEventReceived | None:
    """Return what GitHub tells."""
    event = header(delivery, "x-github-event")
    teller = Teller(ForgeKind.GITHUB, delivery, header(delivery, "x-github-delivery"))
    told = _MEANING.get((event, text_at(delivery.payload, "action")))
    return told(teller) if told else None
