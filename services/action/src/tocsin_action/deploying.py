"""Ask the GitOps controller of a cluster whether a merged commit has reached it."""

import asyncio
from collections.abc import Sequence

from tocsin_action import controllers
from tocsin_action.arrival import UNTOLD, Arrival, Standing
from tocsin_action.controllers import Report
from tocsin_action.ports import Source
from tocsin_cluster.port import Clusters
from tocsin_contracts import Alert, ObjectRef, Target
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit import logging
from tocsin_kit.errors import TocsinError

SECONDS = 10.0
RECENT = 200
"""Commits among which one is found by its first digits."""

WHOLE = 40

log = logging.get(__name__)


class Controllers:
    """Looks at the one object that the plan's place names; of nothing else it asks."""

    def __init__(
        self, clusters: Clusters, gitops: GitOps, source: Source, *, seconds: float = SECONDS
    ) -> None:
        self._clusters = clusters
        self._gitops = gitops
        self._source = source
        self._seconds = seconds

    async def arrival(self, alert: Alert, target: Target, commit: str) -> Arrival:
        """Return where a merged commit stands; what cannot be seen is unknown."""
        asked = controllers.asked(target.place)
        if asked is None or not commit:
            return UNTOLD
        by, ref = asked
        try:
            report = await self._report(alert, ref)
            repository = self._gitops.repository(target.repo)
            return await self._judged(report, repository, commit) if report else UNTOLD
        except (TocsinError, TimeoutError) as error:
            log.info("deploying.not_seen", object=str(ref), why=str(error))
            return Arrival(Standing.UNKNOWN, by)

    async def _report(self, alert: Alert, ref: ObjectRef) -> Report | None:
        named = alert.workload.cluster if alert.workload else ""
        cluster = named or alert.labels.get("cluster", "")
        seat = self._gitops.argo_of(cluster) if ref.kind == "Application" else cluster
        async with asyncio.timeout(self._seconds):
            found = await self._clusters.named(seat).get(ref)
        return controllers.read(found) if found else None

    async def _judged(self, report: Report, repository: Repository, commit: str) -> Arrival:
        revision = await self._holding(report.reached, repository, commit)
        if not revision:
            failed = report.failed and (
                not report.tried or await self._holding(report.tried, repository, commit)
            )
            standing = Standing.FAILED if failed else Standing.SYNCING
            return Arrival(standing, report.by, report.words)
        standing = Standing.SYNCED if report.healthy else Standing.UNHEALTHY
        return Arrival(standing, report.by, report.words, revision, report.finished_at)

    async def _holding(self, revisions: Sequence[str], repository: Repository, commit: str) -> str:
        """Return the commit among these that holds ours, or an empty one if none does.

        Of several sources some are of other repositories; one has to be of ours.
        """
        unseen: list[TocsinError] = []
        for told in revisions:
            try:
                whole = await self._whole(repository, told)
                if whole and await self._source.leads_to(repository, whole, commit):
                    return whole
            except TocsinError as error:
                unseen.append(error)
        if unseen and len(unseen) == len(revisions):
            raise unseen[0]
        return ""

    async def _whole(self, repository: Repository, told: str) -> str:
        if len(told) == WHOLE:
            return told
        head = await self._source.head(repository)
        recent = await self._source.commits(repository, head, limit=RECENT)
        return next((one.sha for one in recent if one.sha.startswith(told)), "")
