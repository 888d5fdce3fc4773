"""The things in a cluster that alerts, evidence and edits are about."""

from tocsin_contracts.base import Value


class ObjectRef(Value):
    """One Kubernetes object; the namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str = ""
    name: str

    def __str__(self) -> str:
        """Write it the way people say it: Deployment payments/payments-api."""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"


class Workload(Value):
    """What an alert is about, as far as its labels say; kind and container may be unknown."""

    cluster: str = ""
    namespace: str
    name: str
    kind: str = ""
    container: str = ""

    @property
    def ref(self) -> ObjectRef:
        """The object this workload is, when its kind is known."""
        return ObjectRef(kind=self.kind, namespace=self.namespace, name=self.name)
