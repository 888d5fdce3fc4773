"""Gitea's and Forgejo's webhooks: GitHub's shape with some words of their own."""

from tocsin_contracts import ForgeEventReceived, ForgeKind
from tocsin_ingest.forge_hooks import hub
from tocsin_ingest.forge_hooks.telling import Teller, header, text_at
from tocsin_ingest.ports import Delivery

_REVIEWS = (
    *("pull_request_approved", "pull_request_rejected", "pull_request_comment"),
    *("pull_request_review_approved", "pull_request_review_rejected"),
    "pull_request_review_comment",
)
"""What a review is called depends on its verdict, and on the header that one reads."""

_MEANING: hub.Meaning = {
    ("pull_request", "closed"): hub.closed,
    ("pull_request", "reopened"): hub.reopened,
    ("pull_request", "synchronized"): hub.pushed_to,
    ("pull_request_sync", "synchronized"): hub.pushed_to,
    **{(review, "reviewed"): hub.reviewed for review in _REVIEWS},
    ("issue_comment", "created"): hub.commented,
    ("pull_request_comment", "created"): hub.commented,
    ("push", ""): hub.pushed,
}


def read_hook(delivery: Delivery) -> ForgeEventReceived | None:
    """Return what Gitea or Forgejo tells."""
    event = header(delivery, "x-forgejo-event", "x-gitea-event")
    delivery_id = header(delivery, "x-forgejo-delivery", "x-gitea-delivery")
    told = _MEANING.get((event, text_at(delivery.payload, "action")))
    return told(Teller(ForgeKind.GITEA, delivery, delivery_id)) if told else None
