"""Settings of the action service."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, field_validator, model_validator

from tocsin_action.asking import TIERS
from tocsin_cluster.settings import LivingSettings
from tocsin_contracts import Risk
from tocsin_contracts.owners import CodeOwners
from tocsin_kit.quorum import Quorum
from tocsin_kit.steering import is_account


class Settings(LivingSettings):
    """Everything an operator can change about action."""

    service: ClassVar[str] = "action"

    action_port: int = Field(default=9485, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
    approvers: tuple[str, ...] = Field(
        default=(),
        description="Ids of people who may decide; to those such as `github:ID` comments are "
        "answered too. Nobody may if it is empty.",
    )
    own_accounts: tuple[str, ...] = Field(
        default=(), description="Our own accounts at forges, as `github:ID`; they steer nothing."
    )
    public_url: str = Field(
        default="", description="Where people reach the console; answers to comments link to it."
    )
    approval_hours: float = Field(
        default=4, gt=0, le=24 * 20, description="Hours until an approval nobody decided expires."
    )
    approver_groups: dict[str, tuple[tuple[str, ...], ...]] = Field(
        default_factory=dict,
        description="Groups of approvers by team, in the order in which they are asked; the team "
        "`` is every other one. Without any, all approvers are asked at once.",
    )
    escalation_minutes: float = Field(
        default=30, gt=0, description="Minutes until the next group of approvers may decide too."
    )
    self_approval: bool = Field(
        default=False,
        description="Whether who asked for a run or a change may be the only one to approve it.",
    )
    forge_accounts: dict[str, str] = Field(
        default_factory=dict,
        description="Which approver an account at a forge is, such as `github:583231` is `ana`.",
    )
    break_glass: tuple[str, ...] = Field(
        default=(),
        description="Approvers who may say yes alone with a reason, past how many people it takes, "
        "owners and who asked, where they log in; nobody may if it is empty.",
    )
    codeowners: CodeOwners = Field(
        default=CodeOwners.SHOW,
        description="What owners of files in CODEOWNERS are asked for: `off`, to be named with "
        "the question (`show`), or a yes of one for every file (`require`).",
    )
    owners: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Which approvers an owner in CODEOWNERS stands for, such as `@shop/payments`.",
    )
    oncall_file: Path | None = Field(
        default=None,
        description="YAML file of who is on call, by team; they are asked before the groups.",
    )
    quorum: dict[Risk, Quorum] = Field(
        default_factory=lambda: dict(TIERS),
        description="Who has to say yes, by the risk of the plan; risks left out keep theirs.",
    )
    verify_minutes: float = Field(
        default=15, gt=0, description="Minutes that alerts have to stay clear after a merged fix."
    )
    sync_minutes: float = Field(
        default=10, ge=0, description="Minutes that a merge may take to reach the cluster."
    )
    cool_down_hours: float = Field(
        default=24, ge=0, description="Hours in which nothing is proposed again after a no."
    )

    @field_validator("quorum")
    @classmethod
    def _of_every_risk(cls, quorum: dict[Risk, Quorum]) -> dict[Risk, Quorum]:
        return {**TIERS, **quorum}

    @model_validator(mode="after")
    def _groups_of_approvers(self) -> Self:
        for team, groups in self.approver_groups.items():
            named = {who for group in groups for who in group}
            if not groups or not all(groups) or named - set(self.approvers):
                strange = ", ".join(sorted(named - set(self.approvers))) or "an empty group"
                raise ValueError(
                    f"TOCSIN_APPROVER_GROUPS of team {team!r}: {strange}; every group has people, "
                    "and TOCSIN_APPROVERS names all of them"
                )
        return self

    @model_validator(mode="after")
    def _named_approvers(self) -> Self:
        owners = {who for people in self.owners.values() for who in people}
        named = {"TOCSIN_BREAK_GLASS": set(self.break_glass), "TOCSIN_OWNERS": owners}
        for setting, people in named.items():
            if strangers := people - set(self.approvers):
                told = ", ".join(sorted(strangers))
                raise ValueError(f"{setting}: TOCSIN_APPROVERS has to name {told} too")
        return self

    @model_validator(mode="after")
    def _enough_people(self) -> Self:
        asked = [sum(groups, ()) for groups in self.approver_groups.values()] or [self.approvers]
        known = min(len({who for who in people if not is_account(who)}) for people in asked)
        for risk, needed in self.quorum.items():
            if known and not needed.alone and needed.people > known:
                raise ValueError(
                    f"TOCSIN_QUORUM asks for {needed.people} people at {risk.value} risk, and "
                    f"only {known} may be asked: nobody could ever approve"
                )
        return self
