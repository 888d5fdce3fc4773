from tocsin_validation.facts import Rendered, told

CUSTOM = b"""\
apiVersion: shop.example/v1
kind: Deployment
metadata: {name: payments-api, namespace: payments}
spec: {size: 1}
"""
SCHEMA = {"properties": {"spec": {"properties": {"size": {"type": "integer"}}}}}
KEY = ("shop.example/v1", "Deployment")


def samples(make):
    def becoming(old, new, manifest=make.manifest, **around):
        after = {make.edit.file: manifest.replace(old, new)}
        return make.change(manifest, after=after, around=make.around(**around))

    def rendered(new):
        text = make.manifest.decode()
        pair = Rendered({"apps": text}, {"apps": text.replace("replicas: 2", new)})
        return make.seen(rendered=told(pair))

    faulty = make.manifest.replace(b"spec:\n", b"spec:\n  unheard: of\n", 1)
    definition = told({KEY: SCHEMA})
    return {
        "passing": (
            make.change(),
            make.seen(version=""),
            becoming(b"128Mi", b"1Gi", faulty),
            becoming(b"size: 1", b"size: 2", CUSTOM, schemas=definition),
            rendered("replicas: 3"),
        ),
        "failing": (
            becoming(b"replicas: 2", b"replicas: many"),
            becoming(b"replicas: 2", b"replica: 2"),
            becoming(b"replicas: 2", b"replicas: many", faulty),
            becoming(b"size: 1", b"size: big", CUSTOM, schemas=definition),
            rendered("replicas: many"),
        ),
        "unknown": (
            becoming(b"size: 1", b"size: 2", CUSTOM, schemas=make.unknown()),
            make.change(make.manifest + b"---\na: [", after={make.edit.file: b"a: ["}),
        ),
    }
