"""Put the parts of validation together, for the service and for whoever runs it in process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from tocsin_cluster.port import Clusters
from tocsin_contracts.owners import CodeOwners
from tocsin_gitops.config import GitOps
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.graphs import Subgraph
from tocsin_validation.convergence import Convergence
from tocsin_validation.converging import Rules
from tocsin_validation.handlers import Handlers
from tocsin_validation.nodes import Nodes
from tocsin_validation.owning import Owning
from tocsin_validation.ports import Approvals, Check, Issues, Reader, Source
from tocsin_validation.resolving.ties import Ties
from tocsin_validation.standing import Desk
from tocsin_validation.state import ValidationState
from tocsin_validation.surroundings.surveyor import Means
from tocsin_validation.undoing import Undoing

USUAL = Rules(verify=timedelta(minutes=15), cool_down=timedelta(hours=24))


@dataclass(frozen=True, slots=True)
class Outside:
    """Everything that validation reads, and the address of the console that it links to.

    Without `ties` nobody is asked to break one.
    """

    gitops: GitOps
    source: Source
    clusters: Clusters
    issues: Issues
    runs: Reader
    approvals: Approvals
    clock: Clock = field(default_factory=SystemClock)
    rules: Rules = USUAL
    console: str = ""
    ties: Ties | None = None
    owners: CodeOwners = CodeOwners.SHOW


def assembled(
    outside: Outside,
    checks: Iterable[Check],
    run_in: Callable[[Nodes], Subgraph[ValidationState]],
    means: Means | None = None,
) -> Handlers:
    """Return the handlers; `run_in` makes the graph of the steps ready to run."""
    gitops, source, clock = outside.gitops, outside.source, outside.clock
    desk = Desk(source, outside.issues, outside.runs, clock)
    converge = Convergence(gitops, source, desk, clock, outside.rules)
    console = outside.console
    nodes = Nodes(
        gitops,
        source,
        checks,
        outside.clusters,
        converge,
        means=means,
        console=console,
        ties=outside.ties,
    )
    undoing = Undoing(gitops, source, desk, clock, outside.rules, console=console)
    owning = Owning(gitops, source, outside.owners)
    return Handlers(
        run_in(nodes),
        undoing,
        outside.runs,
        approvals=outside.approvals,
        clock=clock,
        owning=owning,
    )
