"""Name the owners of the files that a plan touches, as its repository does at the plan's base."""

from collections.abc import Sequence

from tocsin_contracts import Event, Plan, PlanDrafted
from tocsin_contracts.owners import CodeOwners, FileOwners
from tocsin_gitops import codeowners
from tocsin_gitops.codeowners import PLACES
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.providers import LOCAL, HostType
from tocsin_kit import logging
from tocsin_validation.ports import Source

log = logging.get(__name__)


class Owning:
    """Reads CODEOWNERS where the forge of a repository would."""

    def __init__(self, gitops: GitOps, source: Source, wanted: CodeOwners) -> None:
        self._gitops = gitops
        self._source = source
        self._wanted = wanted

    async def named(self, told: Sequence[Event]) -> Sequence[Event]:
        """Return what is told, with the owners in every plan."""
        if self._wanted is CodeOwners.OFF:
            return told
        return [await self._named(one) if isinstance(one, PlanDrafted) else one for one in told]

    async def _named(self, drafted: PlanDrafted) -> PlanDrafted:
        owners = await self._owners(drafted.plan)
        plan = drafted.plan.model_copy(update={"owners": owners})
        return drafted.model_copy(update={"plan": plan})

    async def _owners(self, plan: Plan) -> tuple[FileOwners, ...]:
        repository = self._gitops.repository(plan.target.repo)
        host = self._type(repository)
        for place in PLACES[host]:
            found = await self._source.show(repository, plan.base_sha, place)
            if found is None:
                continue
            if len(found) > codeowners.LARGEST:
                log.warning("owners.file_too_large", file=place, bytes=len(found))
                return ()
            paths = [change.path for change in plan.files]
            return codeowners.owners(host, found.decode("utf-8", "replace"), paths)
        return ()

    def _type(self, repository: Repository) -> HostType:
        local = repository.host == LOCAL
        return HostType.LOCAL if local else self._gitops.provider(repository.host).type
