from tocsin_validation.facts import told


def samples(make):
    def nodes(*found, placed=()):
        return make.seen(nodes=told(found), placed=told(placed))

    full = tuple(make.pod(node="n1") for _ in range(4))
    return {
        "passing": (
            nodes(make.node()),
            nodes(make.node("1Mi"), make.node()),
            nodes(make.node(), placed=full[:3]),
            make.seen(placed=make.unknown()),
        ),
        "failing": (nodes(make.node("255Mi")), nodes(make.node(ready="False"))),
        "unknown": (nodes(make.node(), placed=full), make.seen(nodes=make.unknown())),
    }
