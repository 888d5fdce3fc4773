from tocsin_cluster.manifest import Manifest
from tocsin_validation.facts import told


def scaler(name):
    target = {"kind": "Deployment", "name": name}
    return Manifest(
        {
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "api", "namespace": "payments"},
            "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 9},
        }
    )


def samples(make):
    mine, other = (told((scaler(name),)) for name in ("payments-api", "other"))
    return {
        "passing": (
            make.seen(scalers=mine),
            make.scaling(scalers=other),
            make.scaling(0, 1, scalers=mine),
            make.change(),
        ),
        "failing": (make.scaling(scalers=mine),),
        "unknown": (
            make.scaling(scalers=make.unknown()),
            make.seen(scalers=make.unknown()),
        ),
    }
