from tocsin_cluster.manifest import Manifest
from tocsin_validation.facts import told


def budget(app="payments-api", selector=None, **spec):
    selector = {"matchLabels": {"app": app}} if selector is None else selector
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

    def growing(strategy=None, **spec):
        raw = make.deployment(replicas=4).raw
        live = Manifest({**raw, "spec": {**raw["spec"], "strategy": strategy or {}}})
        return make.seen(live=told(live), budgets=told((budget(**spec),)))

    rule = {"key": "tier", "operator": "Exists"}
    return {
        "passing": (
            make.change(),
            with_budget(minAvailable=2),
            with_budget(minAvailable="60%"),
            with_budget(maxUnavailable=1),
            with_budget(app="other", minAvailable=3),
            growing(minAvailable=3),
            growing({"rollingUpdate": {"maxUnavailable": 0}}, minAvailable=4),
            growing(app="other", maxUnavailable=0),
        ),
        "failing": (
            with_budget(minAvailable=3),
            with_budget(minAvailable="100%"),
            with_budget(minAvailable="67%"),
            with_budget(maxUnavailable=0),
            with_budget(selector={}, minAvailable=3),
            growing(minAvailable=4),
            growing(maxUnavailable=0),
            growing({"type": "Recreate"}, minAvailable=1),
            growing({"rollingUpdate": {"maxUnavailable": "50%"}}, maxUnavailable="25%"),
        ),
        "unknown": (
            make.scaling(budgets=make.unknown()),
            make.seen(budgets=make.unknown()),
            with_budget(selector={"matchExpressions": [rule]}, minAvailable=3),
        ),
    }
