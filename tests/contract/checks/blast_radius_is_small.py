from dataclasses import replace

from tocsin_contracts import ObjectRef
from tocsin_testing import build
from tocsin_validation.facts import Incident, Rendered, Rules, told


def samples(make):
    text = make.manifest.decode()
    two = Rendered(dict.fromkeys("ab", text), dict.fromkeys("ab", f"{text}# x"))
    one = Rendered(dict.fromkeys("ab", text), {"a": text, "b": f"{text}# x"})
    ordered = build.edit(document=ObjectRef(kind="StatefulSet", namespace="p", name="db"))
    system = build.finding(object=ObjectRef(kind="Deployment", namespace="kube-system", name="d"))
    return {
        "passing": (make.change(), make.seen(rendered=told(one))),
        "failing": (
            make.seen(incident=told(Incident(environment="Production"))),
            make.seen(rules=Rules(production=("pay*",))),
            make.seen(live=told(make.deployment(replicas=40))),
            make.seen(rendered=told(two)),
            replace(make.change(), edits=(make.edit, ordered)),
            make.change(hypothesis=build.hypothesis(finding=system)),
        ),
    }
