from tocsin_contracts import EvidenceKind
from tocsin_testing import build

UNSEEN = build.hypothesis(finding=build.finding(evidence=("e1", "e7")))
UNCITED = build.hypothesis(finding=build.finding(evidence=()))
UNANSWERED = build.hypothesis(evidence=(build.evidence(kind=EvidenceKind.MISSING),))


def samples(make):
    wrong = (UNSEEN, UNCITED, UNANSWERED)
    return {
        "passing": (make.change(),),
        "failing": tuple(make.change(hypothesis=one) for one in wrong),
    }
