"""What Argo CD answers, as far as it is read; what it leaves out has its usual value."""

from typing import Any

from pydantic import AwareDatetime, BaseModel, Field, Json


class Named(BaseModel):
    """What an object is called."""

    name: str
    namespace: str = ""


class Destination(BaseModel):
    """Where an application deploys to."""

    namespace: str = ""
    name: str = ""
    server: str = ""


class Spec(BaseModel):
    """What an application is told."""

    destination: Destination = Destination()


class Health(BaseModel):
    """Health, as Argo CD judges it."""

    status: str = "Unknown"
    message: str = ""


class Sync(BaseModel):
    """Whether the cluster is as the source; several sources have several revisions."""

    status: str = "Unknown"
    revision: str = ""
    revisions: list[str] = []


class Operation(BaseModel):
    """The last sync."""

    phase: str = ""
    message: str = ""


class Condition(BaseModel):
    """What is wrong with an application as a whole."""

    type: str
    message: str = ""


class Resource(BaseModel):
    """An object of an application."""

    kind: str
    name: str
    namespace: str = ""
    status: str = ""
    health: Health | None = None


class Source(BaseModel):
    """Where manifests came from."""

    path: str = ""
    chart: str = ""


class Deployed(BaseModel):
    """A sync that was made."""

    at: AwareDatetime = Field(alias="deployedAt")
    revision: str = ""
    revisions: list[str] = []
    source: Source = Source()


class Status(BaseModel):
    """How an application stands."""

    health: Health = Health()
    sync: Sync = Sync()
    operation: Operation = Field(default=Operation(), alias="operationState")
    conditions: list[Condition] = []
    resources: list[Resource] = []
    history: list[Deployed] = []


class Application(BaseModel):
    """An application."""

    metadata: Named
    spec: Spec = Spec()
    status: Status = Status()


class Applications(BaseModel):
    """Some applications; of none it is null."""

    items: list[Application] | None


class Managed(BaseModel):
    """An object as it is, and as it would be after a sync."""

    kind: str
    name: str
    namespace: str = ""
    live: Json[Any] = Field(default=None, alias="normalizedLiveState")
    wanted: Json[Any] = Field(default=None, alias="predictedLiveState")


class Resources(BaseModel):
    """The objects of an application."""

    items: list[Managed] | None


class Window(BaseModel):
    """A time in which syncs are allowed or denied."""

    kind: str = ""
    schedule: str = ""
    duration: str = ""
    manual: bool = Field(default=False, alias="manualSync")


class Windows(BaseModel):
    """What decides about syncs now."""

    active: list[Window] | None = Field(default=None, alias="activeWindows")
    assigned: list[Window] | None = Field(default=None, alias="assignedWindows")
    may_sync: bool = Field(default=False, alias="canSync")
