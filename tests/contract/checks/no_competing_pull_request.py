from tocsin_validation.facts import told


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (make.seen(competing=told(("local://shop/platform-gitops/9",))),),
        "unknown": (make.seen(competing=make.unknown()),),
    }
