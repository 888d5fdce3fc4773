"""From an alert and a finding to the one place of a change: identity, source, then the file."""

from dataclasses import replace

from tocsin_cluster.clusters import UnseenCluster
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.port import Cluster, Clusters
from tocsin_contracts import Alert, EndReason, Finding, ObjectRef, RunId
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.untrusted import line
from tocsin_validation.ports import Source
from tocsin_validation.resolving import chain, identity
from tocsin_validation.resolving.answers import Found, Question, Search, Trace, Unresolved
from tocsin_validation.resolving.chain import Open
from tocsin_validation.resolving.checkouts import Checkouts
from tocsin_validation.resolving.identity import Identity
from tocsin_validation.resolving.labels import REPO
from tocsin_validation.resolving.promoting import on_owner
from tocsin_validation.resolving.searching import Resolved, Wanted, search
from tocsin_validation.resolving.ties import Breaker, Ties


class Resolver:
    """Asks the repositories that the operator allows, and no other."""

    def __init__(
        self, gitops: GitOps, source: Source, clusters: Clusters, ties: Ties | None = None
    ) -> None:
        self._ties = ties
        self._gitops = gitops
        self._source = source
        self._clusters = clusters

    async def resolve(
        self, alert: Alert, finding: Finding, run_id: RunId | None = None
    ) -> Resolved | Unresolved:
        """Return the place of the finding's changes, or why there is none; ties need a run.

        All of them belong to one repository; where one has no place, none is made.
        """
        change = finding.change
        if change is None:
            return Unresolved(EndReason.CAUSE_UNKNOWN, f"{finding.summary} No field would cure it.")
        trace, checkouts = Trace(), Checkouts(self._source)
        who = await identity.of_object(change.object, self.view(cluster_of(alert)), trace)
        declared = finding
        if who.object != change.object:
            moved = on_owner(finding, change.object, who.object)
            if moved is None:
                sentence = f"{change.object} is made by {who.object}, which has no such field."
                return Unresolved(EndReason.TARGET_UNRESOLVED, sentence, trace.lines)
            declared = moved
        breaker = Breaker(alert, run_id, self._ties)
        answer = await self.source(alert, who, checkouts, trace, breaker)
        if isinstance(answer, Unresolved):
            return answer
        wanted = Wanted(alert, declared, trace.lines, breaker)
        found = await search(candidates(answer), wanted, checkouts)
        if isinstance(found, Unresolved) or not breaker.chosen_by:
            return found
        target = found.target.model_copy(update={"chosen_by": breaker.chosen_by})
        return replace(found, target=target)

    async def source(
        self,
        alert: Alert,
        who: Identity,
        checkouts: Checkouts,
        trace: Trace,
        breaker: Breaker | None = None,
    ) -> Found | Open | Unresolved:
        """Return where an object comes from, as far as anybody but the files can tell."""
        cluster = cluster_of(alert)
        serving = self.serving(cluster, who.object)
        if not serving:
            sentence = _not_served(alert, who.object)
            return Unresolved(EndReason.TARGET_UNRESOLVED, sentence, trace.lines)
        question = Question(alert, cluster, who.object, serving, who.shown)
        asked = Search(question, self._gitops, self._clusters, checkouts, trace)
        asked = replace(asked, breaker=breaker or Breaker())
        answer = await chain.ask(asked)
        if isinstance(answer, Unresolved):
            return replace(answer, trace=trace.lines)
        return answer

    def serving(self, cluster: str, ref: ObjectRef) -> tuple[Repository, ...]:
        """Return the repositories that an object may come from, as the operator says."""
        return self._gitops.serving(cluster, ref.namespace)

    def view(self, cluster: str) -> Cluster:
        """Return a cluster; one that cannot be told is one that cannot be seen."""
        try:
            return self._clusters.named(cluster)
        except ClusterError as error:
            return UnseenCluster(str(error))


def candidates(answer: Found | Open) -> tuple[Found, ...]:
    """Return what is to be looked through."""
    if isinstance(answer, Found):
        return (answer,)
    return tuple(Found(one) for one in answer.candidates)


def cluster_of(alert: Alert) -> str:
    """Return the cluster that an alert names; empty if it names none."""
    named = alert.workload.cluster if alert.workload else ""
    return named or alert.labels.get("cluster", "")


def _not_served(alert: Alert, ref: ObjectRef) -> str:
    wanted = alert.labels.get(REPO)
    named = "No configured repository is allowed"
    if wanted:
        named = f"{line(wanted)!r}, which the alert names, is not allowed"
    return f"{named} to serve {ref}; see gitops.yaml."
