from tocsin_cluster.manifest import Manifest
from tocsin_validation.facts import told


def tainted(make):
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    raw = make.node().raw
    return Manifest({**raw, "spec": {**raw.get("spec", {}), "taints": [taint]}})


def samples(make):
    def nodes(*found, placed=()):
        return make.seen(nodes=told(found), placed=told(placed))

    full = tuple(make.pod(node="n1") for _ in range(4))
    return {
        "passing": (
            nodes(make.node()),
            nodes(make.node("1Mi"), make.node()),
            nodes(make.node(), placed=full[:3]),
            nodes(tainted(make), make.node()),
        ),
        "failing": (
            nodes(make.node("255Mi")),
            nodes(make.node(ready="False")),
            nodes(tainted(make)),
        ),
        "unknown": (
            nodes(make.node(), placed=full),
            nodes(),
            make.seen(nodes=make.unknown()),
            make.seen(placed=make.unknown()),
        ),
    }
