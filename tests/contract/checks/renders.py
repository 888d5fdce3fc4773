from tocsin_validation.facts import Rendered, told


def samples(make):
    return {
        "passing": (
            make.seen(rendered=told(Rendered())),
            make.seen(rendered=told(Rendered({"apps": "a: 1"}, {"apps": "a: 2"}))),
        ),
        "failing": (make.seen(rendered=told(Rendered({"apps": "a: 1"}, fault="no such file"))),),
        "unknown": (make.seen(rendered=make.unknown()),),
    }
