from datetime import timedelta

from tocsin_gitops.source import Commit
from tocsin_validation.facts import told


def samples(make):
    def commits(*minutes):
        at = (make.now + timedelta(minutes=one) for one in minutes)
        found = (Commit("c" * 40, "", "ana", one, "Raise it", (make.edit.file,)) for one in at)
        return make.seen(later=told(tuple(found)))

    return {
        "passing": (commits(), commits(-1, -9)),
        "failing": (commits(1), commits(1, -9)),
        "unknown": (make.seen(later=make.unknown()),),
    }
