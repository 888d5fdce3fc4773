"""Who owns the files that a plan touches, as the repository's CODEOWNERS names them."""

from enum import StrEnum

from pydantic import Field

from tocsin_contracts.base import Value


class CodeOwners(StrEnum):
    """What the owners of files are asked for: nothing, to be named, or a yes."""

    OFF = "off"
    SHOW = "show"
    REQUIRE = "require"


class FileOwners(Value):
    """The owners of one file, of whom one has to agree; of a file in more sections there are more.

    Names are as the forge writes them: `@ana`, `@shop/payments` or an address.
    """

    path: str
    owners: tuple[str, ...] = Field(description="Empty where the rule cannot be understood.")
    section: str = Field(default="", description="Of the file that names them, if it has any.")

    @property
    def what(self) -> str:
        """The file, with its section if it has one."""
        return f"{self.path} [{self.section}]" if self.section else self.path
