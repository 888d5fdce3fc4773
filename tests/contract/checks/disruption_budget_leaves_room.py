from tocsin_cluster.manifest import Manifest
from tocsin_validation.facts import told


def budget(app="payments-api", **spec):
    selector = {"matchLabels": {"app": app}}
    return Manifest(
        {
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "api", "namespace": "payments"},
            "spec": {"selector": selector, **spec},
        }
    )


def samples(make):
    def with_budget(**spec):
        return make.scaling(budgets=told((budget(**spec),)))

    return {
        "passing": (
            make.change(),
            with_budget(minAvailable=2),
            with_budget(minAvailable="60%"),
            with_budget(maxUnavailable=1),
            with_budget(app="other", minAvailable=3),
        ),
        "failing": (
            with_budget(minAvailable=3),
            with_budget(minAvailable="100%"),
            with_budget(minAvailable="67%"),
            with_budget(maxUnavailable=0),
        ),
        "unknown": (make.scaling(budgets=make.unknown()),),
    }
