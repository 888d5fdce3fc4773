from datetime import timedelta

from tocsin_testing import build
from tocsin_validation.facts import told

WAITING = build.evidence(excerpt="0/1 nodes: Pending, FailedScheduling")


def samples(make):
    def pods(*found, ready=2, **around):
        return make.seen(pods=told(found), live=told(make.deployment(ready=ready)), **around)

    lately = (make.now - timedelta(minutes=2)).isoformat()
    before = (make.now - timedelta(hours=2)).isoformat()
    well = make.pod(ready=True, died_at=before)
    elsewhere = build.hypothesis(evidence=(build.evidence(excerpt="the Service selects nothing"),))
    return {
        "passing": (
            pods(make.pod(waiting="CrashLoopBackOff")),
            pods(make.pod(ready=True, died_at=lately)),
            pods(well, make.pod(ready=False)),
        ),
        "failing": (pods(well, well),),
        "unknown": (
            make.seen(pods=make.unknown()),
            pods(well, well, recorded=True),
            pods(well, ready=1),
            pods(),
            make.change(hypothesis=elsewhere, around=pods(well, well).around),
        ),
    }
