from tocsin_validation.facts import Rival, told


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (
            make.seen(competing=told((Rival("local://shop/platform-gitops/9", same_field=True),))),
        ),
        "unknown": (make.seen(competing=make.unknown()),),
    }
