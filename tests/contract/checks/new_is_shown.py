from tocsin_contracts import EditOp, EvidenceKind
from tocsin_testing import build

TOLERATED = build.edit(
    op=EditOp.INSERT,
    path=("spec", "template", "spec", "tolerations"),
    old=None,
    new=None,
    new_tree=[{"key": "gpu", "operator": "Exists"}],
)


def samples(make):
    def showing(excerpt, kind=EvidenceKind.OBJECT):
        seen = build.hypothesis(evidence=(build.evidence(kind=kind, excerpt=excerpt),))
        return make.change(edits=(TOLERATED,), hypothesis=seen)

    return {
        "passing": (showing("taints: gpu NoSchedule"),),
        "failing": (showing("none"), showing("my-gpu"), showing("gpu", EvidenceKind.LOG)),
    }
