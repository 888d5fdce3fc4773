from tocsin_validation.facts import Incident, told


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (make.seen(incident=told(Incident(cleared_at=make.now))),),
        "unknown": (make.seen(incident=make.unknown()),),
    }
