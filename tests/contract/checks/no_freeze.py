from tocsin_validation.facts import Incident, told


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (make.seen(incident=told(Incident(freeze="year end, until 3 January"))),),
        "unknown": (make.seen(incident=make.unknown()),),
    }
